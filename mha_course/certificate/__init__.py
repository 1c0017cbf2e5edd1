"""The certificate: what was done in the course, with a name and a date, as a picture and as a page."""

from mha_course.certificate.keeping import Certificate, certificate

__all__ = ["Certificate", "certificate"]
