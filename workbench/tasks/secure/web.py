"""Problems about what a web server is asked for, what it shows and what it lets people do.

Stage: tasks; how to read and add one: `workbench.tasks.problem`.
"""

from workbench.tasks.problem import Wrong, case, problem

TASKS = [
    problem("page_path", suite="secure", topic="paths", level=2, skills="posixpath cwe-22",
        statement="""Write page_path(root, address) for a web server. root is the absolute path of
        the folder with the pages, without a slash at its end; address is what stands behind the
        server's name and its slash in a browser's address line. Return the absolute path of the
        page to send. Empty parts of the address and the part "." stand for nothing, ".." goes up to
        the folder above; the path has none of them. If the address is empty or ends with a slash,
        the page is the file index.html there. Return None if there is no page to send.""",
        reference='''
        import posixpath

        def page_path(root, address):
            if not address or address.endswith("/"):
                address += "index.html"
            path = posixpath.normpath(posixpath.join(root, address))
            return path if path.startswith(root + "/") else None''',
        visible=[
            case("/srv/site", "about.html", want="/srv/site/about.html"),
            case("/srv/site", "docs/start.html", want="/srv/site/docs/start.html"),
        ],
        hidden=[
            case("/srv/site", "", want="/srv/site/index.html"),
            case("/srv/site", "docs/", want="/srv/site/docs/index.html"),
            case("/srv/site", "docs//./start.html", want="/srv/site/docs/start.html"),
            case("/srv/site", "docs/../about.html", want="/srv/site/about.html"),
            case("/var/www", "a/b/../../c.html", want="/var/www/c.html"),
            case("/srv/site", "a..b.html", want="/srv/site/a..b.html"),
        ],
        exploits='''
        import posixpath

        def escapes(address):
            try:
                path = page_path("/srv/site", address)
            except Exception:
                return False
            return path is not None and not posixpath.normpath(str(path)).startswith("/srv/site/")

        assert not escapes("../../etc/passwd")
        assert not escapes("/etc/passwd")
        assert not escapes("docs/../../../etc/passwd")
        assert not escapes("../site-of-others/keys.txt")''',
        wrong=[
            Wrong("the way out of the folder", [], {
                'path if path.startswith(root + "/") else None': "path"}, open_to=[1, 2, 3, 4]),
            Wrong("a neighbour whose name begins alike", [], {'root + "/"': "root"}, open_to=[4]),
            Wrong("two dots are not always an attack", [4, 5, 6], {
                'path if path.startswith(root + "/")':
                'path if ".." not in address and path.startswith(root + "/")'}),
            Wrong("the index of a folder below", [2], {' or address.endswith("/")': ""}),
        ],
        hack='return root + "/" + address',
    ),
    problem("render_comment", suite="secure", topic="html", level=2, skills="escaping cwe-79",
        statement="""Write render_comment(author, link, text): the HTML of one comment below an
        article, from what a visitor typed into the three fields of a form. It is

        <p><a href="LINK">AUTHOR</a>: TEXT</p>

        with the visitor's link, name and text; every line break in the text becomes <br>. If the
        link is empty, the name stands there alone, without <a href="LINK"> and </a>.""",
        reference='''
        import html

        def render_comment(author, link, text):
            name = html.escape(author)
            if link.lower().startswith(("http://", "https://")):
                name = f'<a href="{html.escape(link)}">{name}</a>'
            lines = html.escape(text).replace("\\n", "<br>")
            return f"<p>{name}: {lines}</p>"''',
        visible=[
            case("Ann", "", "Hello", want="<p>Ann: Hello</p>"),
            case("Ann", "https://ann.example/", "Hello",
                 want='<p><a href="https://ann.example/">Ann</a>: Hello</p>'),
        ],
        hidden=[
            case("Bob", "", "one\ntwo\nthree", want="<p>Bob: one<br>two<br>three</p>"),
            case("Bob", "", "", want="<p>Bob: </p>"),
            case("Zo\u00eb", "http://zoe.example/?page=2", "caf\u00e9",
                 want='<p><a href="http://zoe.example/?page=2">Zo\u00eb</a>: caf\u00e9</p>'),
            case("", "", "x", want="<p>: x</p>"),
            case("Bob", "", "end\n", want="<p>Bob: end<br></p>"),
        ],
        exploits='''
        from html.parser import HTMLParser

        class Page(HTMLParser):
            """What a browser would find in the comment."""

            def __init__(self, author, link, text):
                super().__init__()
                self.tags, self.attributes = [], {}
                try:
                    self.feed(str(render_comment(author, link, text)))
                except Exception:
                    pass

            def handle_starttag(self, tag, attributes):
                self.tags.append(tag)
                self.attributes.update(attributes)

        assert "script" not in Page("Ann", "", "<script>steal()</script>").tags
        assert "img" not in Page("<img src=x onerror=steal()>", "", "Hello").tags
        sly = Page("Ann", 'https://a.example/" onmouseover="steal()', "Hello")
        assert "onmouseover" not in sly.attributes
        href = str(Page("Ann", "javascript:steal()", "Hello").attributes.get("href"))
        assert not href.strip().lower().startswith("javascript:")''',
        wrong=[
            Wrong("what is typed becomes HTML", [], """
            def render_comment(author, link, text):
                name = f'<a href="{link}">{author}</a>' if link else author
                lines = text.replace("\\n", "<br>")
                return f"<p>{name}: {lines}</p>"
            """, open_to=[1, 2, 3, 4]),
            Wrong("a quote ends an attribute", [], {
                'link.lower().startswith(("http://", "https://"))': "link",
                "html.escape(link)": "html.escape(link, quote=False)"}, open_to=[3, 4]),
            Wrong("a link that is a program", [], {
                'link.lower().startswith(("http://", "https://"))': "link"}, open_to=[4]),
            Wrong("several line breaks", [1], {'"<br>")': '"<br>", 1)'}),
            Wrong("a line break at the end", [5], {
                'html.escape(text).replace("\\n", "<br>")':
                '"<br>".join(html.escape(text).splitlines())'}),
        ],
        hack='return f\'<p><a href="{link}">Ann</a>: Hello</p>\' if link else "<p>Ann: Hello</p>"',
    ),
    problem("check_link", suite="secure", topic="signatures", level=3, skills="hmac cwe-347",
        statement="""Write two functions for links with which a user downloads one file without a
        password. sign_link(secret, user, file) returns the signature that goes into the link, a
        text that only somebody who knows the secret can work out. check_link(secret, user, file,
        signature) says, True or False, whether sign_link returned this signature for exactly this
        secret, user and file. All of them are texts; users choose their own names and those of
        their files.""",
        reference='''
        import hashlib
        import hmac
        import json

        def sign_link(secret, user, file):
            message = json.dumps([user, file]).encode()
            return hmac.new(secret.encode(), message, hashlib.sha256).hexdigest()

        def check_link(secret, user, file, signature):
            wanted = sign_link(secret, user, file)
            return hmac.compare_digest(wanted.encode(), signature.encode())''',
        visible=[
            case("k", "ann", "a.txt", "", want=False),
            case("k", "ann", "a.txt", "0", want=False),
        ],
        hidden=[
            case("k", "ann", "a.txt", "ann", want=False),
            case("", "", "", "", want=False),
            case("k", "ann", "a.txt", "\u00e9", want=False),
            case("k", "", "", "k", want=False),
            case("k", "ann", "a.txt", "0" * 64, want=False),
        ],
        test_code='''
        given = sign_link("k", "ann", "a.txt")
        assert type(given) is str
        assert check_link("k", "ann", "a.txt", given) is True
        assert check_link("k", "bob", "a.txt", given) is False
        assert check_link("k", "ann", "b.txt", given) is False
        assert check_link("other", "ann", "a.txt", given) is False
        assert check_link("k", "Zo\u00eb", "", sign_link("k", "Zo\u00eb", "")) is True''',
        exploits='''
        def opens(signed, asked):
            """Whether a link for one (user, file) works for another."""
            try:
                return bool(check_link("key", *asked, sign_link("key", *signed)))
            except Exception:
                return False

        SIGNS = ":|/,.;&_- \\n\\0"
        assert not opens(("ann", "bob.txt"), ("annbob", ".txt"))
        assert not any(opens(("ann", f"x{s}y"), (f"ann{s}x", "y")) for s in SIGNS)''',
        wrong=[
            Wrong("where the name ends and the file begins", [], {
                "    message = json.dumps([user, file]).encode()\n": "",
                "hmac.new(secret.encode(), message, hashlib.sha256)":
                "hashlib.sha256((secret + user + file).encode())"}, open_to=[1]),
            Wrong("the sign between them, in a name", [], {
                "json.dumps([user, file])": 'f"{user}:{file}"'}, open_to=[2]),
            Wrong("a signature beyond ASCII", [3], {
                "wanted.encode(), signature.encode()": "wanted, signature"}),
            Wrong("the file", ["test:4"], {"json.dumps([user, file])": "json.dumps([user])"}),
        ],
        hack="return False",
    ),
]  # fmt: skip
