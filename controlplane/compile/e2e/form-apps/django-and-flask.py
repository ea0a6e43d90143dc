"""Serves one of two applications with a form on a free loopback port, and prints its address."""
import sys
from wsgiref.simple_server import WSGIRequestHandler, make_server

urlpatterns = []


def page(field, token):
    return f'<form method="POST"><input type="hidden" name="{field}" value="{token}"/></form>'


def django_app():
    from django.conf import settings

    settings.configure(
        SECRET_KEY="of-this-test-alone-" * 3,
        ALLOWED_HOSTS=["*"],
        ROOT_URLCONF="__main__",
        MIDDLEWARE=["django.middleware.csrf.CsrfViewMiddleware"],
        SECURE_PROXY_SSL_HEADER=("HTTP_X_FORWARDED_PROTO", "https"),
    )
    from django.core.wsgi import get_wsgi_application
    from django.http import HttpResponse
    from django.middleware.csrf import get_token
    from django.urls import re_path

    def form(request):
        if request.method == "POST":
            return HttpResponse("posted")
        return HttpResponse(page("csrfmiddlewaretoken", get_token(request)))

    urlpatterns.append(re_path("", form))
    return get_wsgi_application()


def flask_app():
    from flask import Flask, request
    from flask_wtf.csrf import CSRFProtect, generate_csrf
    from werkzeug.middleware.proxy_fix import ProxyFix

    app = Flask("form")
    app.secret_key = "of-this-test-alone"
    CSRFProtect(app)

    @app.route("/flask", methods=["GET", "POST"])
    def form():
        return "posted" if request.method == "POST" else page("csrf_token", generate_csrf())

    return ProxyFix(app, x_for=1, x_proto=1, x_host=1, x_port=1)


class Quiet(WSGIRequestHandler):
    def log_message(self, *args):
        pass


server = make_server("127.0.0.1", 0, {"django": django_app, "flask": flask_app}[sys.argv[1]](), handler_class=Quiet)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
