"""The tests' own pages, and a login page to send people to."""

from django.http import HttpResponse
from django.urls import path

from tests.live import pages

urlpatterns = [
    path("test/", pages.page),
    path("test/submit/", pages.submit),
    path("login/", lambda _request: HttpResponse("log in here")),
]
