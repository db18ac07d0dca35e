"""The words of the screens in the languages of the tables: gettext catalogues, and what reads them."""
