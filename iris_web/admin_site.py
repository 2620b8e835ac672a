"""Django's admin, open to the role admin alone."""

from django.contrib.admin import AdminSite
from django.http import HttpRequest

from iris_web.access import Role, role_of


class IrisAdminSite(AdminSite):
    """The stock site; who may enter is decided by `iris_web.access`, as everywhere."""

    site_header = "Iris admin"
    site_title = "Iris admin"
    index_title = "Limits, quotas, tokens and people"
    enable_nav_sidebar = False

    def has_permission(self, request: HttpRequest) -> bool:
        return role_of(request.user) is Role.ADMIN
