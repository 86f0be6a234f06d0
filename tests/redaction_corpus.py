"""A redaction corpus made at run time from a seed: nothing that looks like a credential is ever committed.

Left out: the sentences of any other corpus. A shape is a list of parts (prefix, alphabet, length); prefixes are joined from halves, so that
the source holds no literal that a scanner would report.
"""
# ruff: noqa: E501

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import quote

UP, LOW, DIG = string.ascii_uppercase, string.ascii_lowercase, string.digits
AN, HEX, URL = UP + LOW + DIG, "0123456789abcdef", UP + LOW + DIG + "-_"
UUID: tuple[str | int, ...] = ("", HEX, 8, "-", HEX, 4, "-", HEX, 4, "-", HEX, 4, "-", HEX, 12)


@dataclass(frozen=True)
class Sample:
    group: str  # credential, personal, obfuscated, look-alike
    kind: str
    text: str
    secret: str | None


# fmt: off
SHAPES: dict[str, tuple[str | int, ...]] = {
    "aws": ("AK" + "IA", UP + "234567", 16), "google": ("AI" + "za", URL, 35), "gcp-oauth": ("GOC" + "SPX-", URL, 28), "ya29": ("ya" + "29.", URL, 60),
    "digitalocean": ("dop" + "_v1_", HEX, 64), "alibaba": ("LT" + "AI", AN, 20), "tencent": ("AK" + "ID", AN, 32), "vercel": ("vc" + "p_", AN, 56),
    "netlify": ("nf" + "p_", AN, 40), "supabase": ("sb" + "p_", HEX, 40), "planetscale": ("psc" + "ale_tkn_", URL, 43), "databricks": ("da" + "pi", HEX, 32),
    "vault": ("hv" + "s.", URL, 90), "terraform": ("", AN, 14, ".atlas" + "v1.", URL, 67), "pulumi": ("pu" + "l-", HEX, 40), "doppler": ("dp" + ".pt.", AN, 43),
    "tailscale": ("ts" + "key-auth-", AN, 12, "-", AN, 32), "grafana": ("gl" + "sa_", AN, 32, "_", HEX, 8), "sentry": ("snt" + "ryu_", HEX, 64),
    "newrelic": ("NR" + "AK-", UP + DIG, 27), "dynatrace": ("dt0" + "c01.", UP + DIG, 24, ".", UP + DIG, 64), "github": ("gh" + "s_", AN, 36),
    "github-pat": ("github" + "_pat_", AN, 22, "_", AN, 59), "gitlab": ("gl" + "pat-", URL, 20), "bitbucket": ("AT" + "BB", AN, 32), "atlassian": ("AT" + "ATT3", URL, 180),
    "sourcegraph": ("sg" + "p_", HEX, 40), "circleci": ("CCI" + "PAT_", AN, 22, "_", HEX, 40), "buildkite": ("bk" + "ua_", HEX, 40), "npm": ("np" + "m_", AN, 36),
    "pypi": ("py" + "pi-AgEI", URL, 120), "rubygems": ("ruby" + "gems_", HEX, 48), "nuget": ("oy" + "2", LOW + DIG, 43), "crates": ("ci" + "o", AN, 32),
    "docker": ("dck" + "r_pat_", URL, 27), "artifactory": ("AK" + "Cp", AN, 69), "clojars": ("CLO" + "JARS_", LOW + DIG, 60), "postman": ("PM" + "AK-", HEX, 24, "-", HEX, 34),
    "slack": ("xo" + "xb-", DIG, 12, "-", DIG, 12, "-", AN, 24), "discord": ("M", AN, 23, ".", URL, 6, ".", AN, 30), "telegram": ("", "123456789", 10, ":A" + "A", URL, 33),
    "twilio": ("S" + "K", HEX, 32), "sendgrid": ("S" + "G.", URL, 22, ".", URL, 43), "mailgun": ("ke" + "y-", HEX, 32), "mailchimp": ("", HEX, 32, "-u" + "s", DIG, 2),
    "brevo": ("xkey" + "sib-", HEX, 64, "-", AN, 16), "stripe": ("sk_" + "live_", AN, 24), "stripe-hook": ("wh" + "sec_", AN, 32), "square": ("sq0" + "atp-", URL, 22),
    "razorpay": ("rzp" + "_live_", AN, 14), "shopify": ("shp" + "at_", HEX, 32), "plaid": ("access-" + "sandbox-" + str(UUID[0]), *UUID[1:]), "openai": ("s" + "k-proj-", AN, 48),
    "anthropic": ("sk-" + "ant-api03-", URL, 93), "openrouter": ("sk-" + "or-v1-", HEX, 64), "deepseek": ("s" + "k-", HEX, 32), "huggingface": ("h" + "f_", AN, 34),
    "replicate": ("r" + "8_", AN, 37), "groq": ("gs" + "k_", AN, 52), "xai": ("xa" + "i-", AN, 80), "perplexity": ("pp" + "lx-", AN, 48), "zhipu": ("", HEX, 32, ".", AN, 16),
    "nvidia": ("nv" + "api-", URL, 64), "langsmith": ("lsv2" + "_pt_", HEX, 32, "_", HEX, 10), "notion": ("nt" + "n_", AN, 46), "airtable": ("pa" + "t", AN, 14, ".", HEX, 64),
    "linear": ("lin" + "_api_", AN, 40), "figma": ("fi" + "gd_", URL, 40), "hubspot": ("pat" + "-na1-", *UUID[1:]), "contentful": ("CF" + "PAT-", URL, 43),
    "age": ("AGE-SECRET" + "-KEY-1", "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58), "bcrypt": ("$2" + "b$12$", AN + "./", 53),
}
FREE = [
    "For the staging cluster I put {} into the vault yesterday.", "note to self -> {} <- rotate on Monday", "La clave que usamos en pruebas es {} por ahora.",
    "Im Testsystem verwenden wir {} bis Freitag.", "測試環境先用 {} 這一個。", "テスト環境では {} を使っています。", "export DEPLOY_CRED='{}'", "cfg = {{\"v\": \"{}\"}}",
    "2024-05-02T10:11:12Z INFO worker-3 loaded credential {} from disk", "const k = `{}`;", "String k = \"{}\";", "k := \"{}\"", "settings:\n  upstream: {}\n  retries: 3", "把{}发给运维之前先轮换。",
]
SECRET_FRAMES = [
    "{n}={}", "{n}: '{}'", "\"{n}\": \"{}\",", "os.environ[\"{n}\"] = \"{}\"", "const {n} = \"{}\";", "export {n}=\"{}\"", "{n} := \"{}\"", "config.set('{n}', '{}')", "ENV {n}={}", "--{n}={} --verbose",
    "<{n}>{}</{n}>", "{{\\\"{n}\\\": \\\"{}\\\"}}", "- name: {n}\n  value: \"{}\"", "private static final String {n} = \"{}\";", "https://api.example.test/v1/items?{n}={}&page=2",
]
NAMES = ["DB_PASSWORD", "api_key", "clientSecret", "access_token", "SECRET_KEY", "apiToken", "smtp_passwd", "auth-token", "encryption_key", "ADMIN_PWD"]
SPOKEN = [
    "The password for the staging router is {}", "our wifi passphrase: {}", "Password is {}, do not share it.", "Das Passwort lautet {}", "Mein Kennwort ist {} und bleibt geheim.",
    "la contraseña es {}", "Contraseña del servidor: {}", "le mot de passe est {}", "A senha do banco é {}", "пароль: {}", "Пароль от сервера сейчас такой: {}", "パスワードは {} です", "ログインパスワード：{}",
    "비밀번호는 {} 입니다", "数据库密码是{}，请保密", "口令改为 {}。", "服务器密码设置为{}", "登录密码：{}（下周更换）", "API 密钥：{}", "访问令牌为 {}", "測試帳號密碼：{}", "root 的口令是 {}", "the login is admin / password {}",
]
# fmt: on


def _shape(r: random.Random, parts: tuple[str | int, ...]) -> str:
    triples = zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    return "".join(str(prefix) + "".join(r.choice(str(alphabet)) for _ in range(int(length))) for prefix, alphabet, length in triples)


def _strong(r: random.Random, n: int, extra: str = "") -> str:
    """A password people would call strong: letters of both cases, digits, perhaps symbols inside."""
    body = [r.choice(UP), r.choice(LOW), r.choice(DIG), *(r.choice(AN + extra) for _ in range(n - 4))]
    r.shuffle(body)
    return "".join(body) + r.choice(AN)


def _luhn(r: random.Random, prefix: str, length: int) -> str:
    body = prefix + "".join(r.choice(DIG) for _ in range(length - len(prefix) - 1))
    total = sum(int(c) if i % 2 else int(c) * 2 - 9 * (int(c) > 4) for i, c in enumerate(reversed(body)))
    return body + str(-total % 10)


def _china(r: random.Random) -> str:
    day = f"{r.randrange(1955, 2008)}{r.randrange(1, 13):02}{r.randrange(1, 29):02}"
    body = r.choice(["310104", "440305", "510107"]) + day + f"{r.randrange(1000):03}"
    return body + "10X98765432"[sum(int(c) * pow(2, 17 - i, 11) for i, c in enumerate(body)) % 11]


def _iban(r: random.Random, country: str, pattern: str) -> str:
    body = "".join(r.choice(DIG) if c == "n" else r.choice(UP) for c in pattern)
    number = int("".join(str(int(c, 36)) for c in body + country + "00"))
    return f"{country}{98 - number % 97:02}{body}"


def _grouped(text: str, by: str, size: int = 4) -> str:
    return by.join(text[i : i + size] for i in range(0, len(text), size))


def _dni(r: random.Random) -> str:
    number = r.randrange(10**7, 10**8)
    return f"{number:08}" + "TRWAGMYFPDXBNJZSQVHLCKE"[number % 23]


# fmt: off
PERSONAL: dict[str, tuple[Callable[[random.Random], str], list[str]]] = {
    "card": (lambda r: _luhn(r, r.choice(["4", "51", "55", "62"]), 16), ["Charge it to {} please.", "信用卡号 {} 已绑定", "Kartennummer {} hinterlegt", "card={}"]),
    "card-spaced": (lambda r: _grouped(_luhn(r, "4", 16), r.choice(" -")), ["Charge it to {} please.", "カード番号は {} です"]),
    "amex": (lambda r: _luhn(r, "37", 15), ["he paid with {} twice", "el número es {}"]),
    "identity-cn": (_china, ["我的身份证号是{}。", "His ID is {}", "{\"id_card\": \"{}\"}", "証件號碼 {} 已核驗"]),
    "iban-de": (lambda r: _iban(r, "DE", "n" * 18), ["Bitte auf {} überweisen.", "Pay to {} by Friday"]),
    "iban-gb": (lambda r: _grouped(_iban(r, "GB", "a" * 4 + "n" * 14), " "), ["Wire it to {} today", "转账到 {} 即可"]),
    "email": (lambda r: _shape(r, ("", LOW, 6, ".", LOW, 5)) + "@mail.example.test", ["Write to {} first.", "联系邮箱{}，谢谢", "owner = \"{}\"", "<{}>", "メールは {} まで"]),
    "phone-cn": (lambda r: "13" + _shape(r, ("", DIG, 9)), ["我的手机是{}，随时打", "Ring {} after six", "tel:{}"]),
    "phone-cn-spaced": (lambda r: "+86 15" + r.choice(DIG) + " " + _grouped(_shape(r, ("", DIG, 8)), " "), ["号码 {}", "reach me on {}"]),
    "phone-us": (lambda r: f"({r.randrange(201, 989)}) {r.randrange(201, 989)}-{r.randrange(10000):04}", ["Her number is {}.", "call {} now"]),
    "phone-de": (lambda r: "+49 30 " + _shape(r, ("", "123456789", 8)), ["Telefon {}", "Erreichbar unter {} ab neun"]),
    "phone-fr": (lambda r: "06 " + _grouped(_shape(r, ("", DIG, 8)), " ", 2), ["Mon numéro : {}", "rappelle le {}"]),
    "phone-jp": (lambda r: f"090-{r.randrange(10000):04}-{r.randrange(10000):04}", ["電話は {} です", "携帯 {}"]),
    "ssn": (lambda r: f"{r.randrange(100, 665)}-{r.randrange(10, 99)}-{r.randrange(1000, 9999)}", ["SSN {}", "her social is {} on file"]),
    "passport-cn": (lambda r: "E" + _shape(r, ("", DIG, 8)), ["护照号：{}", "passport number {}", "Passport no. {} expires soon"]),
    "korea": (lambda r: f"{r.randrange(60, 99)}{r.randrange(1, 13):02}{r.randrange(1, 29):02}-1{r.randrange(10**6):06}", ["주민등록번호 {}", "RRN {}"]),
    "uk-nino": (lambda r: f"AB{r.randrange(10**6):06}C", ["NI number {}", "payroll has {} for him"]),
    "spain": (_dni, ["DNI {}", "mi documento es {}"]),
}
# fmt: on


def _fill(frame: str, value: str, name: str = "") -> str:
    return frame.replace("{{", "\0").replace("}}", "\1").replace("{n}", name).replace("{}", value).replace("\0", "{").replace("\1", "}")


def samples(seed: int) -> Iterator[Sample]:
    """Yield the whole corpus of one seed."""
    r = random.Random(seed)
    for kind, parts in SHAPES.items():
        for frame in r.sample(FREE, 3):
            value = _shape(r, parts)
            yield Sample("credential", kind, _fill(frame, value), value)
    for frame in SECRET_FRAMES:
        for name in r.sample(NAMES, 3):
            value = _strong(r, 20)
            yield Sample("credential", f"assignment {frame}", _fill(frame, value, name), value)
    for frame in SPOKEN:
        key = "密钥" in frame or "令牌" in frame
        value = _strong(r, 16) if key else _strong(r, 11, "!@#%")
        yield Sample("credential", f"spoken {frame}", _fill(frame, value), value)
    yield from _composed(r)
    for kind, (make, frames) in PERSONAL.items():
        for frame in frames:
            value = make(r)
            yield Sample("personal", kind, frame.replace("{}", value), value)
    yield from _obfuscated(r)
    yield from look_alikes(r)


def _encoded(value: dict[str, object]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def _composed(r: random.Random) -> Iterator[Sample]:
    """Yield what has structure of its own: tokens of three parts, blocks, addresses, headers, command lines."""
    jwt = ".".join([_encoded({"alg": "RS256", "kid": "k1"}), _encoded({"sub": "u9", "exp": r.randrange(10**9)}), _shape(r, ("", URL, 86))])
    body = "\n".join(_shape(r, ("", AN + "+/", 64)) for _ in range(5))
    pem = f"-----BEGIN RSA {'PRIV'}ATE KEY-----\n{body}\n-----END RSA {'PRIV'}ATE KEY-----"
    pw, basic = _strong(r, 14), base64.b64encode(f"svc:{_strong(r, 12)}".encode()).decode()
    # fmt: off
    rows = [
        ("jwt", "session {} started", jwt), ("jwt", "令牌内容：{}", jwt), ("pem", "the file reads\n{}\nend of file", pem), ("pem", "\"key\": \"{}\"", pem.replace("\n", "\\n")),
        ("url", "amqps://svc:{}@mq.example.test:5671/vhost", pw), ("url", "git clone https://bot:{}@code.example.test/a/b.git", pw), ("url", "连接 mongodb+srv://app:{}@c0.example.test/db 失败", pw),
        ("dsn", "Server=db;Database=x;User Id=sa;Password={};Encrypt=true", pw), ("dsn", "host=db user=app password={} dbname=x", pw), ("jdbc", "jdbc:mysql://db/x?user=app&password={}&useSSL=true", pw),
        ("basic", "Authorization: Basic {}", basic), ("header", "X-Api-Key: {}", _strong(r, 32)), ("bearer", "headers={{\"Authorization\": \"Bearer {}\"}}", _shape(r, ("", URL, 44))),
        ("header", "PRIVATE-TOKEN: {}", _strong(r, 24)), ("cookie", "Cookie: theme=dark; sessionid={}; lang=de", _strong(r, 32)), ("curl", "curl -u admin:{} https://x.example.test", pw), ("mysql", "mysql -h db -u root -p{} shop", pw),
        ("sshpass", "sshpass -p '{}' ssh root@10.0.0.5", pw), ("sql", "ALTER USER app IDENTIFIED BY '{}';", pw), ("sql", "CREATE ROLE app WITH LOGIN PASSWORD '{}';", pw), ("netrc", "machine h.example.test login bot password {}", pw),
        ("slack-hook", "curl https://hooks.slack.com/services/{}", _shape(r, ("T", UP + DIG, 8, "/B", UP + DIG, 8, "/", AN, 24))), ("azure", "DefaultEndpointsProtocol=https;AccountName=a;AccountKey={};", base64.b64encode(r.randbytes(64)).decode()),
        ("wireguard", "PrivateKey = {}", base64.b64encode(r.randbytes(32)).decode()), ("maven", "<server><password>{}</password></server>", pw), ("signed-url", "https://s.example.test/f?X-Amz-Signature={}&a=1", _shape(r, ("", HEX, 64))),
        ("otp", "Your verification code is {}", _shape(r, ("", DIG, 6))), ("otp", "验证码：{}，五分钟内有效", _shape(r, ("", DIG, 6))), ("pin", "my card PIN is {}", "9" + _shape(r, ("", DIG, 3))),
    ]
    # fmt: on
    for kind, frame, value in rows:
        yield Sample("credential", kind, _fill(frame, value), value)


def _wide(text: str) -> str:
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)


def _obfuscated(r: random.Random) -> Iterator[Sample]:
    """Yield credentials in disguise; the secret is the disguised form, all of which must vanish."""
    for kind in ("github", "aws", "stripe", "anthropic", "gitlab", "slack", "npm", "google"):
        raw = _shape(r, SHAPES[kind])
        percent = "".join(f"%{ord(c):02X}" for c in raw)
        half = f'"{raw[: len(raw) // 2]}" + "{raw[len(raw) // 2 :]}"'
        for trick, frame, disguised in (
            ("full-width", "现在用 {} 登录", _wide(raw)),
            ("zero-width", "the value {} goes here", raw[:3] + "\u200b" + raw[3:9] + "\u2060" + raw[9:]),
            ("soft hyphen", "use {} now", "\u00ad".join(raw)),
            ("base64", "data: {} (encoded)", base64.b64encode(f"token={raw}".encode()).decode()),
            ("percent", "https://x.example.test/?q={}", percent),
            ("spaced", "it reads {} in full", " ".join(raw)),
            ("split literal", "key = {};", half),
            ("homoglyph", "value {}", raw.translate(str.maketrans("asA", "\u0430\u0455\u0410"))),
            ("unicode escape", '"{}"', "".join(f"\\u{ord(c):04x}" for c in raw)),
        ):
            yield Sample("obfuscated", trick, frame.replace("{}", disguised), disguised)
    pw = _strong(r, 14, "!@#")
    yield Sample("obfuscated", "full-width assignment", f"ｐａｓｓｗｏｒｄ＝{_wide(pw)}", _wide(pw))
    yield Sample("obfuscated", "zero-width name", f"pass\u200bword = {pw}", pw)
    yield Sample("obfuscated", "percent assignment", f"password%3D{quote(pw, safe='')}", quote(pw, safe=""))


def look_alikes(r: random.Random) -> Iterator[Sample]:
    """Yield what must come back unchanged."""

    def h(n: int) -> str:
        return _shape(r, ("", HEX, n))

    # fmt: off
    texts = [
        f"reverted in {h(40)}", f"see {h(7)}..{h(7)}", f"git checkout {h(12)}", f"sha256:{h(64)}", f"md5 {h(32)} build.tar.gz", f"trace_id={h(32)} span_id={h(16)}", f"ETag: \"{h(32)}\"",
        f"image@sha256:{h(64)}", f"{h(8)}-{h(4)}-4{h(3)}-a{h(3)}-{h(12)}", f"request {h(8)}-{h(4)}-4{h(3)}-9{h(3)}-{h(12)} failed", "integrity: sha512-" + base64.b64encode(r.randbytes(64)).decode(),
        "numpy==1.26.4", "Python 3.12.0rc3 on 2024-05-02", "node v20.11.1", "password: <your password>", "API_KEY=${API_KEY}", "token = os.environ[\"TOKEN\"]", "SECRET_KEY=changeme", "password = getpass.getpass()",
        "api_key: YOUR_API_KEY_HERE", "export TOKEN=$(cat /run/token)", "secret: {{ vault_secret }}", "password: ********", "token=xxxxxxxxxxxxxxxx", "password: str", "def login(user: str, password: str) -> bool:",
        "const token: string = getToken();", "if password != expected_password: raise", "password_hash = hash_password(password)", "token_type: bearer", "max_tokens: 2048", "tokens=1536 cost=0.02", "keyboard shortcut", "passport photos are needed",
        "the compass points north", "a secret garden", "the key is to start early", "the token ring network", "Please reset your password.", "Forgot password? Click here", "password must be at least 12 characters", "password_reset_url = /reset",
        "tokenizer = AutoTokenizer", "secretary of state", "monkey patching", "author: Ann Lee", "authentication is handled by the proxy", "authorization code flow", "basic auth is disabled", "Bearer tokens are short lived",
        "SELECT token FROM sessions WHERE id = 4", "secrets.token_hex(16)", "import secrets", "kubectl get secret db-credentials", "secretKeyRef:\n  name: db\n  key: password", "密码管理器推荐", "忘记密码时走邮件重置", "令牌桶算法限流 100 次每秒",
        "口令红包活动在周五", "密钥轮换周期是 90 天", "密码长度不少于 12 位", "修改密码页面需要重做", "验证码 60 秒后过期", "パスワードを忘れた場合", "パスワードは8文字以上です", "la contraseña debe tener 8 caracteres", "Passwort vergessen", "le mot de passe oublié",
        f"order #{r.randrange(10**9, 10**10)}", f"invoice INV-2024-{r.randrange(10**5):05}", "ISBN 978-0-306-40615-7", f"ts={1_700_000_000 + r.randrange(10**7)}", f"at {1_700_000_000_000 + r.randrange(10**9)} it ended", "SKU 8400-1122-77", "192.168.10.254", "10.0.0.5:5432",
        "fe80::1ff:fe23:4567:890a", "00:1B:44:11:3A:B7", "2024-05-02 10:11:12.123456", "3.14159265358979", "lines 120-180", "pages 1024-1088", "RFC 7519 section 4.1.4", "version 2024.5.2", "port 8080 and 8443", "1,234,567 rows", "size 4096x2160",
        "ERR_CONNECTION_RESET_BY_PEER", "com.example.auth.TokenProvider", "src/auth/password_reset.py", "https://example.test/docs/token", "https://example.test:8443/a?b=c", "git@code.example.test:team/repo.git", "@types/node", "@pytest.fixture", "icon@2x.png",
        "user:password style", "-----BEGIN CERTIFICATE-----", "ssh-ed25519 is preferred", "sk-learn and sk-image", "task-runner-with-a-long-hyphenated-name", "risk-adjusted-return-on-capital-2024", "hf_transfer speeds it up", "the ghp_ prefix marks a personal token",
        "glpat-<your-token>", "xoxb-your-token-here", "sk_test_XXXXXXXXXXXXXXXX", "eyJ is how every such header begins", "use a passphrase", "pass: 312, fail: 3", "auth: required", "pin 13 drives the LED", "clave foránea", "salt and pepper",
        "otp: optional", "session_id is a column", "the private key stays on the device", "public_key.pem", "access key rotation", "license key field", "key = lambda item: item.size", "foreign key (user_id)", "primary key: id", "sort_key=created_at", "cache_key = f\"{user}:{page}\"",
    ]
    # fmt: on
    for text in texts:
        yield Sample("look-alike", text[:24], text, None)
