"""Configuration, read from the environment; `docs/configuration.md` has the table.

Development needs no variable at all. In production (`IRIS_PRODUCTION=1`) no secret has a default.
"""

import math
import os
import secrets
import socket
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

from iris_web import addresses, number_settings, secret_key
from iris_web.login import configured
from scaling import instance_names, lyc_settings, notice_settings

BASE_DIR = Path(__file__).resolve().parent.parent


def _flag(name: str, default: bool = False) -> bool:
    text = os.environ.get(name, "").strip().lower()
    if text in {"", "0", "false", "no", "off"}:
        return default if text == "" else False
    if text in {"1", "true", "yes", "on"}:
        return True
    raise ImproperlyConfigured(f"{name}: expected 1 or 0, got {text!r}")


def _number(name: str, usual: float | None = None) -> float:
    try:
        return number_settings.number(os.environ, name, usual)
    except ValueError as error:
        raise ImproperlyConfigured(str(error)) from None


def _whole(name: str, usual: int | None = None) -> int:
    return int(_number(name, usual))


def _word(name: str, default: str, longest: int) -> str:
    value = os.environ.get(name, "").strip() or default
    if len(value) > longest or not value.isprintable():
        raise ImproperlyConfigured(f"{name}: expected at most {longest} printable characters, got {value!r}")
    return value


def _one_of(name: str, default: str, choices: tuple[str, ...]) -> str:
    value = os.environ.get(name, "").strip().upper() or default
    if value not in choices:
        raise ImproperlyConfigured(f"{name}: expected one of {', '.join(choices)}, got {value!r}")
    return value


PRODUCTION = _flag("IRIS_PRODUCTION")
DEBUG = _flag("IRIS_DEBUG") and not PRODUCTION
TESTING = "pytest" in sys.modules

# Where SQLite files, the secret key and the simulated cloud's books live.
STATE_DIR = Path(os.environ.get("IRIS_STATE_DIR") or BASE_DIR / "var").resolve()


def _secret_key() -> str:
    """IRIS_SECRET_KEY, or the key that `manage.py up` keeps in the data folder."""
    path = STATE_DIR / "secret_key"
    try:
        key = os.environ.get("IRIS_SECRET_KEY", "") or (path.read_text().strip() if path.exists() else "")
    except OSError as error:
        raise ImproperlyConfigured(f"IRIS_STATE_DIR: cannot read {path} ({error.strerror})") from None
    if not key and PRODUCTION and sys.argv[1:2] != ["up"]:
        raise ImproperlyConfigured("IRIS_SECRET_KEY: must be set when IRIS_PRODUCTION=1")
    if key and PRODUCTION:
        try:
            secret_key.check(key)
        except ValueError as error:
            place = "IRIS_SECRET_KEY" if os.environ.get("IRIS_SECRET_KEY") else f"IRIS_STATE_DIR: the key in {path}"
            raise ImproperlyConfigured(f"{place}: {error}") from None
    # Without either, a key that lasts for this process; `up` writes it down for those it starts.
    return key or secrets.token_urlsafe(50)


SECRET_KEY = _secret_key()


def _addresses(name: str, read: Callable[[str], list[str]]) -> list[str]:
    try:
        return read(os.environ.get(name, ""))
    except ValueError as error:
        raise ImproperlyConfigured(f"{name}: {error}") from None


ALLOWED_HOSTS = _addresses("IRIS_ALLOWED_HOSTS", addresses.read_hosts) or (
    [] if PRODUCTION else ["localhost", "127.0.0.1", "[::1]", "testserver"]
)
# `up` may be told a host on its command line, and looks there first.
if not ALLOWED_HOSTS and sys.argv[1:2] != ["up"]:
    raise ImproperlyConfigured("IRIS_ALLOWED_HOSTS: must name this site, such as iris.example, when IRIS_PRODUCTION=1")
CSRF_TRUSTED_ORIGINS = _addresses("IRIS_TRUSTED_ORIGINS", addresses.read_origins)

INSTALLED_APPS = [
    # First: its commands stand before those of Django with the same name.
    "iris_web",
    "iris_web.apps.IrisAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "axes",
    "django_q",
    "channels",
    "scaling",
]

MIDDLEWARE = [
    "iris_web.security.SecurityHeadersMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "iris_web.static_files.StaticFilesMiddleware",
    "iris_web.live.middleware.LiveCursorMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "iris_web.login.lifetime.SessionLifetimeMiddleware",
    "iris_web.login.proxy.ProxyUserMiddleware",
    "iris_web.access.RequireLoginMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "iris_web.urls"
ASGI_APPLICATION = "iris_web.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "iris_web.templating.Templates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "iris_web.access.template_context",
                "iris_web.pages.theme.template_context",
            ],
        },
    }
]


def _database() -> dict[str, Any]:
    """SQLite with the options measured to give no lock errors with four writers, or DATABASE_URL."""
    url = os.environ.get("DATABASE_URL", "")
    if url.startswith(("postgres://", "postgresql://")):
        try:
            parsed = dj_database_url.parse(url)
        except ValueError as error:
            raise ImproperlyConfigured(f"DATABASE_URL: {error}") from None
        return {**parsed, "CONN_MAX_AGE": 60, "CONN_HEALTH_CHECKS": True}
    if url and not url.startswith("sqlite:///"):
        raise ImproperlyConfigured("DATABASE_URL: expected postgres://user:password@host:port/name or sqlite:///path")
    path = url.removeprefix("sqlite:///") or str(STATE_DIR / "iris.sqlite3")
    return {
        "ENGINE": "scaling.sqlite",
        "NAME": path,
        "CONN_MAX_AGE": 60,
        "OPTIONS": {
            "timeout": 30,
            "transaction_mode": "IMMEDIATE",
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA busy_timeout=30000;",
        },
    }


DATABASES = {"default": _database()}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
# Ways in beside the password: an OIDC provider, a proxy that signs people in.
try:
    IRIS_OIDC = configured.read_oidc(os.environ)
    IRIS_PROXY = configured.read_proxy(os.environ)
except ValueError as wrong:
    raise ImproperlyConfigured(str(wrong)) from None
AUTHENTICATION_BACKENDS = [
    "iris_web.login.backends.Throttle",
    "django.contrib.auth.backends.ModelBackend",
    *(["iris_web.login.backends.ProviderBackend"] if IRIS_OIDC.enabled else []),
    *(["iris_web.login.backends.ProxyBackend"] if IRIS_PROXY.enabled else []),
]
LOGIN_URL = "/login/"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/login/"

LANGUAGE_CODE = "en-us"
# How the admin writes times: as every page does, in UTC.
FORMAT_MODULE_PATH = "iris_web.formats"
TIME_ZONE = "UTC"
USE_TZ = True

STATIC_URL = "/static/"
STATIC_ROOT = STATE_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG or TESTING

# Logins: until no request came for so long, and in all; 0 = no limit. People and tokens are changed only by who
# showed within these minutes who they are.
IRIS_SESSION_IDLE_HOURS = _number("IRIS_SESSION_IDLE_HOURS")
IRIS_SESSION_HOURS = _number("IRIS_SESSION_HOURS")
IRIS_CONFIRM_MINUTES = _number("IRIS_CONFIRM_MINUTES")
SESSION_COOKIE_AGE = math.ceil(IRIS_SESSION_HOURS * 3600) or 366 * 86_400
# Wrong passwords for one name from one address, until both together have to wait.
AXES_FAILURE_LIMIT = _whole("IRIS_LOGIN_FAILURES")
AXES_COOLOFF_TIME = timedelta(minutes=_number("IRIS_LOGIN_WAIT_MINUTES"))
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_LOCKOUT_CALLABLE = "iris_web.login.throttle.locked_out"
AXES_CLIENT_IP_CALLABLE = "iris_web.login.clients.counted_address"
# Masked wherever axes would tell of a form; iris_web.login.throttle keeps forms from being stored at all.
AXES_SENSITIVE_PARAMETERS = ["username", "ip_address", "password", "new", "again", "csrfmiddlewaretoken"]
AXES_RESET_ON_SUCCESS = True
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_ENABLE_ADMIN = False
AXES_DISABLE_ACCESS_LOG = True
AXES_VERBOSE = False

SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_FAILURE_VIEW = "iris_web.pages.errors.csrf_failed"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
# Read in any case, so that a mistake shows before the day it counts.
_HSTS_SECONDS = _whole("IRIS_HSTS_SECONDS")
_TLS_REDIRECT = _flag("IRIS_TLS_REDIRECT", True)
_BEHIND_PROXY = _flag("IRIS_BEHIND_PROXY")
if PRODUCTION:
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True
    SECURE_HSTS_SECONDS = _HSTS_SECONDS
    SECURE_SSL_REDIRECT = _TLS_REDIRECT
    if _BEHIND_PROXY:
        SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

# The largest API body; the API says so with a 413 before reading more.
DATA_UPLOAD_MAX_MEMORY_SIZE = 32 * 1024 * 1024

# What a Prometheus server presents to read /metrics; without it only this machine may.
IRIS_METRICS_TOKEN = os.environ.get("IRIS_METRICS_TOKEN", "")

# The replica scaler (REPLICAS section 1).
try:
    LYC = lyc_settings.read(os.environ)
except lyc_settings.BadSetting as wrong:
    raise ImproperlyConfigured(str(wrong)) from None
# Whether the demonstration shows an inference fleet beside its cluster.
IRIS_DEMONSTRATION_FLEET = _flag("IRIS_DEMONSTRATION_FLEET", True)
# This control plane's name among others that share the database: one per machine, or set.
try:
    IRIS_INSTANCE = instance_names.read(os.environ.get("IRIS_INSTANCE", ""), socket.gethostname())
except ValueError as wrong:
    raise ImproperlyConfigured(f"IRIS_INSTANCE: {wrong}") from None

try:
    BROKER_URL = addresses.read_broker(os.environ.get("IRIS_BROKER_URL", "")) or LYC.redis_url
except ValueError as wrong:
    raise ImproperlyConfigured(f"IRIS_BROKER_URL: {wrong}") from None

# One queue for the loops and for creates and deletes. `retry` counts from the moment a task is fetched, so a
# prefetched task can run twice: every task is idempotent.
Q_CLUSTER: dict[str, Any] = {
    "name": "iris",
    # A slow Gateway may hold three of them (scaler, syncer, lifecycle); the group autoscaler needs its own.
    "workers": _whole("IRIS_WORKERS", 4 if LYC.enabled else 2),
    "timeout": 20,
    "retry": 120,
    "queue_limit": 4,
    "bulk": 1,
    "save_limit": -1,
    "ack_failures": True,
    "max_attempts": 1,
    "recycle": 100_000,
    "poll": 0.05,
    # Loops run from the ticker: the queue's own scheduler looks every 30 s only.
    "scheduler": False,
    "label": "Task queue",
}
Q_CLUSTER |= {"redis": BROKER_URL} if BROKER_URL else {"orm": "default"}

# The group autoscaler (AUTOSCALER: cycle period, lease). A period that is given here wins over a cluster file's.
IRIS_CYCLE_SECONDS = _number("IRIS_CYCLE_SECONDS")
IRIS_CYCLE_SECONDS_GIVEN = bool(os.environ.get("IRIS_CYCLE_SECONDS"))
IRIS_LEASE_TTL = _number("IRIS_LEASE_TTL")
IRIS_PLATFORM_TIMEOUT = _number("IRIS_PLATFORM_TIMEOUT")
IRIS_CREATES_PER_MINUTE = _whole("IRIS_CREATES_PER_MINUTE")
# What the prices of groups are written in.
IRIS_CURRENCY = _word("IRIS_CURRENCY", "USD", 12)

# Notices: channels named here, beside those of the database; how they are kept.
try:
    IRIS_NOTICE_URLS = notice_settings.read_urls(os.environ.get("IRIS_NOTICE_URLS", ""))
    IRIS_SITE_URL = notice_settings.read_site(os.environ.get("IRIS_SITE_URL", ""))
except ValueError as wrong:
    raise ImproperlyConfigured(str(wrong)) from None
IRIS_NOTICE_DEMAND_MINUTES = _number("IRIS_NOTICE_DEMAND_MINUTES")
IRIS_NOTICE_AGAIN_MINUTES = _number("IRIS_NOTICE_AGAIN_MINUTES")
IRIS_NOTICE_SETTLE_SECONDS = _number("IRIS_NOTICE_SETTLE_SECONDS")
IRIS_NOTICE_GROUP_OVER = _whole("IRIS_NOTICE_GROUP_OVER")
IRIS_NOTICE_ATTEMPTS = _whole("IRIS_NOTICE_ATTEMPTS")

# Retention, in days; 0 = for ever.
IRIS_KEEP_CYCLES_DAYS = _number("IRIS_KEEP_CYCLES_DAYS")
IRIS_KEEP_FEED_DAYS = _number("IRIS_KEEP_FEED_DAYS")
IRIS_KEEP_JOBS_DAYS = _number("IRIS_KEEP_JOBS_DAYS")
IRIS_KEEP_SLICES_DAYS = _number("IRIS_KEEP_SLICES_DAYS")
IRIS_KEEP_MARKERS_DAYS = _number("IRIS_KEEP_MARKERS_DAYS")
IRIS_KEEP_NOTICES_DAYS = _number("IRIS_KEEP_NOTICES_DAYS")
IRIS_KEEP_TASK_RESULTS_DAYS = _number("IRIS_KEEP_TASK_RESULTS_DAYS")
IRIS_KEEP_HEARTBEATS_DAYS = _number("IRIS_KEEP_HEARTBEATS_DAYS")
IRIS_KEEP_DECISIONS_DAYS = _number("IRIS_KEEP_DECISIONS_DAYS")
IRIS_KEEP_SAMPLES_DAYS = _number("IRIS_KEEP_SAMPLES_DAYS")
IRIS_KEEP_GROUP_SAMPLES_DAYS = _number("IRIS_KEEP_GROUP_SAMPLES_DAYS")
IRIS_KEEP_SESSIONS_DAYS = _number("IRIS_KEEP_SESSIONS_DAYS")

LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"()": "scaling.logs.StructuredFormatter"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": _one_of("IRIS_LOG_LEVEL", "INFO", LOG_LEVELS)},
    "loggers": {
        "django.request": {"level": "ERROR"},
        "django-q": {"level": "WARNING"},
        "uvicorn.access": {"level": "WARNING"},
        # Iris tells of failed logins itself.
        "axes": {"level": "WARNING"},
        # A line for every call of every tick.
        "httpx": {"level": "WARNING"},
        "httpcore": {"level": "WARNING"},
    },
}
