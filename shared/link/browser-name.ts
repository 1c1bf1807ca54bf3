const BROWSERS: [name: string, token: RegExp][] = [
  ['Edge', /Edg(?:A|iOS)?\/(\d+)/],
  ['Opera', /OPR\/(\d+)/],
  ['Samsung Internet', /SamsungBrowser\/(\d+)/],
  ['Firefox', /(?:Firefox|FxiOS)\/(\d+)/],
  ['Chrome', /(?:Chrome|CriOS)\/(\d+)/],
  ['Safari', /Version\/(\d+).*Safari/],
];
const SYSTEMS: [name: string, token: RegExp][] = [
  ['Android', /Android/],
  ['iOS', /iPhone|iPad/],
  ['Windows', /Windows/],
  ['macOS', /Mac OS X/],
  ['ChromeOS', /CrOS/],
  ['Linux', /Linux/],
];

/** Common names of this browser and its operating system: `Chrome 156`, `Linux`. */
export function parsePlatform({ userAgent }: { userAgent: string }): { browser: string | undefined; system: string | undefined } {
  const browser = BROWSERS.map(([name, token]) => ({ name, version: token.exec(userAgent)?.[1] })).find(
    ({ version }) => version !== undefined,
  );
  const system = SYSTEMS.find(([, token]) => token.test(userAgent))?.[0];
  return { browser: browser && `${browser.name} ${browser.version}`, system };
}

/** The two in one: `Chrome 156 on Linux`. */
export function toBrowserName(navigator: { userAgent: string }): string {
  const { browser, system } = parsePlatform(navigator);
  return [browser ?? 'A browser', system && `on ${system}`].filter(Boolean).join(' ');
}
