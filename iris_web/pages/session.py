"""Signing in and out."""

from django.contrib.auth.views import LoginView, LogoutView
from django.http import HttpRequest, HttpResponseRedirect
from django.shortcuts import redirect
from django.utils.http import urlencode


class SignIn(LoginView):
    """The login page; someone already signed in goes on."""

    template_name = "login.html"
    redirect_authenticated_user = True


class SignOut(LogoutView):
    """Ends the session (POST only)."""


def admin_sign_in(request: HttpRequest) -> HttpResponseRedirect:
    """One login page for the whole site: the admin's own leads here."""
    return redirect(f"/login/?{urlencode({'next': request.GET.get('next', '/admin/')})}")
