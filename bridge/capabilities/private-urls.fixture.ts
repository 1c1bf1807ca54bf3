/** Non-public IPv4 addresses. */
const V4 = [
  ...['0.0.0.0', '0.1.2.3', '10.0.0.1', '10.255.255.255', '100.64.0.1', '100.127.255.254', '100.100.100.200', '127.0.0.1', '127.1.2.3'],
  ...[
    '169.254.1.1',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.1',
    '192.0.0.192',
    '192.0.2.1',
    '192.168.0.1',
    '192.168.255.255',
  ],
  ...[
    '198.18.0.1',
    '198.19.255.255',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '239.255.255.250',
    '240.0.0.1',
    '255.255.255.255',
    '168.63.129.16',
  ],
];

/** Non-public IPv6 addresses, as written between brackets. */
const V6 = [
  ...[
    '::',
    '::1',
    '0:0:0:0:0:0:0:1',
    '0000:0000:0000:0000:0000:0000:0000:0001',
    '::0:1',
    'fe80::1',
    'febf::1',
    'fec0::1',
    'fc00::1',
    'fd00::1',
  ],
  ...[
    'fd12:3456:789a::1',
    'ff02::1',
    'ff0e::1',
    '100::1',
    '2001::1',
    '2001:0:4136:e378:8000:63bf:3fff:fdd2',
    '2001:2::1',
    '2001:10::1',
    '2001:20::1',
  ],
  ...[
    '2001:db8::1',
    '3fff::1',
    '5f00::1',
    '4000::1',
    '64:ff9b:1::1',
    'fd00:ec2::254',
    'fd20:ce::254',
    '2002:7f00:1::',
    '2002:a00:1::1',
    '2002:c0a8:101::',
  ],
];

const parts = (address: string): [number, number, number, number] => {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
  return [a, b, c, d];
};
const hex = (value: number, width = 0): string => value.toString(16).padStart(width, '0');
const octal = (value: number): string => `0${value.toString(8)}`;

/** Spellings of an address that URL parsers, C libraries or people accept. */
function toSpellings(address: string): string[] {
  const [a, b, c, d] = parts(address);
  const whole = a * 2 ** 24 + b * 2 ** 16 + c * 2 ** 8 + d;
  const groups = `${hex(a * 256 + b)}:${hex(c * 256 + d)}`;
  const circled = (text: string): string =>
    [...text].map((char) => (char === '0' ? '⓪' : /[1-9]/.test(char) ? String.fromCodePoint(0x2460 + Number(char) - 1) : char)).join('');
  const wide = (text: string): string =>
    [...text].map((char) => String.fromCodePoint(char === '.' ? 0xff0e : char.charCodeAt(0) + 0xfee0)).join('');
  return [
    ...[address, `${address}.`, String(whole), `0x${hex(whole)}`, octal(whole), `0X${hex(whole, 8).toUpperCase()}`],
    ...[[a, b, c, d].map((part) => `0x${hex(part)}`).join('.'), [a, b, c, d].map(octal).join('.'), `${octal(a)}.0x${hex(b)}.${c}.${d}`],
    ...[
      `${a}.${b}.${c * 256 + d}`,
      `${a}.${b * 65536 + c * 256 + d}`,
      [a, b, c, d].map((part) => part.toString(8).padStart(6, '0')).join('.'),
    ],
    ...[
      address.replaceAll('.', '。'),
      wide(address),
      circled(address),
      address.replaceAll('.', '%2e'),
      `%${hex(address.charCodeAt(0))}${address.slice(1)}`,
    ],
    ...[
      `[::ffff:${address}]`,
      `[::ffff:${groups}]`,
      `[::${groups}]`,
      `[0:0:0:0:0:ffff:${groups}]`,
      `[64:ff9b::${groups}]`,
      `[64:ff9b::${address}]`,
    ],
    ...[
      `[2002:${groups}::1]`,
      `[2001:470::5efe:${groups}]`,
      `[::ffff:0:${groups}]`,
      `[64:ff9b:1::${groups}]`,
      `[2001:470::200:5efe:${groups}]`,
    ],
  ];
}

/** Distinct URLs that must not be fetched. */
export function createPrivateUrls(): string[] {
  const hosts = [...V4.flatMap(toSpellings), ...V6.map((address) => `[${address}]`), ...V6.map((address) => `[${address.toUpperCase()}]`)];
  const tricks = [
    'http://example.com@127.0.0.1/',
    'http://example.com:80@10.0.0.1/',
    'http://user:pass@example.com/',
    'http://user@93.184.216.34/',
    'http://example.com%40@127.0.0.1/',
    'http://127.0.0.1#@example.com/',
    'http://127.0.0.1?@example.com/',
    'http://127.0.0.1\\@example.com/',
    'http:\\\\127.0.0.1\\',
    'http:127.0.0.1/',
    'http:/127.0.0.1/',
    'http:////127.0.0.1/',
    '  http://127.0.0.1/  ',
    'ht\ntp://127.0.0.1/',
    'http://12\t7.0.0.1/',
    'HTTP://127.0.0.1/',
    'https://127.0.0.1:443/',
    'http://127.0.0.1:80/',
    'http://127.0.0.1:8080/',
    'http://[::1]:3000/',
    'http://127.1/',
    'http://127.0.1/',
    'http://0/',
    'http://0x0/',
    'http://0x7f.1/',
    'http://0177.1/',
    'http://017700000001/',
    'http://metadata.google.internal/computeMetadata/v1/',
    'http://METADATA.google.internal./',
    'http://metadata/',
    'http://metadata.goog/',
    'http://instance-data/latest/',
    'http://[fe80::1%25eth0]/',
    'ftp://93.184.216.34/',
    'file:///etc/passwd',
    'data:text/html,hello',
    'javascript:alert(1)',
    'blob:http://example.com/x',
    'ws://93.184.216.34/',
    'gopher://93.184.216.34/',
    'about:blank',
    'http://93.184.216.34:22/',
    'http://93.184.216.34:25/',
    'http://93.184.216.34:6379@127.0.0.1/',
    'http://93.184.216.34:6667/',
    'http://93.184.216.34:5060/',
    'http://256.1.1.1/',
    'http://1.2.3.4.5/',
    'http://0x1ffffffff/',
    'http://',
    '',
  ];
  return [...new Set([...hosts.map((host) => `http://${host}/`), ...tricks])];
}
