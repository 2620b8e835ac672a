"""Every address of the site."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

from iris_web import health, metrics
from iris_web.pages import (
    action,
    action_export,
    actions,
    demand,
    deployment,
    deployment_acts,
    deployment_charts,
    deployment_edit,
    deployment_scale,
    deployments,
    errors,
    group,
    group_acts,
    groups,
    job,
    limit_acts,
    overview,
    provider,
    search,
    session,
    settings,
    settings_notices,
    slice,
    stockouts,
    theme,
    undo,
)

# Their import registers what the admin shows.
admin.autodiscover()

handler400 = errors.bad_request
handler403 = errors.forbidden
handler404 = errors.not_found
handler500 = errors.failed

urlpatterns: list[URLPattern | URLResolver] = [
    path("", overview.view, name="overview"),
    path("groups/", groups.view, name="groups"),
    path("groups/<path:name>/drain/", group_acts.drain, name="group-drain"),
    path("groups/<path:name>/undrain/", group_acts.undrain, name="group-undrain"),
    path("groups/<path:name>/pause/", group_acts.pause, name="group-pause"),
    path("groups/<path:name>/resume/", group_acts.resume, name="group-resume"),
    path("groups/<path:name>/limits/", limit_acts.edit_limits, name="group-limits"),
    path("groups/<path:name>/", group.view, name="group"),
    path("slices/<str:name>/drain/", slice.drain, name="slice-drain"),
    path("slices/<str:name>/undrain/", slice.undrain, name="slice-undrain"),
    path("slices/<str:name>/", slice.view, name="slice"),
    path("deployments/", deployments.view, name="deployments"),
    path("deployments/absent/forget/", deployment_acts.forget, name="deployments-forget"),
    path("deployments/<path:deployment_id>/pause/", deployment_acts.pause, name="deployment-pause"),
    path("deployments/<path:deployment_id>/resume/", deployment_acts.resume, name="deployment-resume"),
    path("deployments/<path:deployment_id>/scale/", deployment_scale.view, name="deployment-scale"),
    path("deployments/<path:deployment_id>/wake/", deployment_acts.wake, name="deployment-wake"),
    path("deployments/<path:deployment_id>/edit/", deployment_edit.edit, name="deployment-edit"),
    path("deployments/<path:deployment_id>/series", deployment_charts.series, name="deployment-series"),
    path("deployments/<path:deployment_id>/", deployment.view, name="deployment"),
    path("demand/", demand.view, name="demand"),
    path("demand/<path:job>/", job.view, name="job"),
    path("stockouts/", stockouts.view, name="stockouts"),
    path("stockouts/<int:pk>/acknowledge/", stockouts.acknowledge, name="marker-acknowledge"),
    path("stockouts/<int:pk>/clear/", stockouts.clear, name="marker-clear"),
    path("stockouts/<int:pk>/hold/", stockouts.hold, name="marker-hold"),
    path("actions/", actions.view, name="actions"),
    path("actions/<int:pk>/undo/", undo.view, name="action-undo"),
    path("actions/export.csv", action_export.view, {"form": "csv"}, name="actions-csv"),
    path("actions/export.json", action_export.view, {"form": "json"}, name="actions-json"),
    path("actions/<int:pk>/", action.view, name="action"),
    path("search/", search.view, name="search"),
    path("settings/", settings.view, name="settings"),
    path("settings/halt/", settings.halt, name="halt"),
    path("settings/unhalt/", settings.unhalt, name="unhalt"),
    path("settings/platforms/<int:pk>/<str:mode>/", settings.set_mode, name="platform-mode"),
    path("settings/notices/<int:pk>/acknowledge/", settings_notices.acknowledge, name="notice-acknowledge"),
    path("settings/notices/channels/<int:pk>/test/", settings_notices.test_channel, name="channel-test"),
    path("pools/<int:pk>/forget/", settings.forget_learned_limit, name="pool-forget"),
    path("theme/", theme.choose, name="theme"),
    path("login/provider/", provider.begin, name="provider"),
    path("login/provider/callback/", provider.callback, name="provider-callback"),
    path("login/", session.SignIn.as_view(), name="login"),
    path("logout/", session.SignOut.as_view(), name="logout"),
    path("confirm/", session.confirm_again, name="confirm"),
    path("password/", session.own_password, name="password"),
    path("admin/login/", session.admin_sign_in),
    path("admin/logout/", session.SignOut.as_view()),
    path("admin/", admin.site.urls),
    path("api/v1/", include("iris_web.api.urls")),
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("metrics", metrics.metrics),
]
