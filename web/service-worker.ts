import { assets, immutable } from '$app/manifest';
import { self } from '$app/service-worker';
import { cleanupOutdatedCaches, createHandlerBoundToURL, matchPrecache, precacheAndRoute } from 'workbox-precaching';
import { NavigationRoute, registerRoute } from 'workbox-routing';
import { demoMark } from '#shared/demo-mark.ts';
import { FRAME_FILE, FRAME_HEADERS } from '#shared/preview-frame.ts';
import { keepShared, SHARE } from '#lib/incoming/shared-form.ts';

/**
 * Keeps the whole app, the gateway's worker included, so that it opens without a network. A new version is fetched beside the one in
 * use and waits until a page lets it in (`SKIP_WAITING`): nothing is swapped under a person's hands.
 */
const SHELL = new URL(self.registration.scope).pathname;
/** Suffix of cache names: other folders of this host may have a service worker too. */
const MARK = __PERCH_DEMO__ ? demoMark(SHELL) : '';

/** Not pages: the bridge's own ways, and the page of the managed browser. Never answered from the cache. */
const NOT_PAGES = [
  /^\/v1(\/|$)/,
  /^\/mcp(\/|$)/,
  /^\/ws$/,
  /^\/uplink$/,
  /^\/health$/,
  /^\/link(\/|$)/,
  /^\/oauth(\/|$)/,
  /^\/host$/,
  /\/left\.html$/,
];

/** Parts of the worker that it loads when they are wanted, which SvelteKit does not know of: the build puts their paths here (vite.config.ts). */
const workerParts = JSON.parse('__PERCH_WORKER_PARTS__') as { path: string; heavy: boolean }[];
const pathsOf = (heavy: boolean): string[] => workerParts.filter((part) => part.heavy === heavy).map(({ path }) => path);

/** Each language's words, from the build too: only the one that is spoken here is kept. */
const localeFiles = JSON.parse('__PERCH_LOCALE_FILES__') as Record<string, string[]>;
const inLocales = new Set(Object.values(localeFiles).flat());

/** File hosts send no headers of ours: what is not to be trusted gets its own here. */
registerRoute(
  ({ url }) => url.origin === location.origin && url.pathname === SHELL + FRAME_FILE,
  async ({ request, url }) => {
    const { body, headers, status } = (await matchPrecache(url.pathname)) ?? (await fetch(request));
    const all = new Headers(headers);
    for (const [name, value] of Object.entries(FRAME_HEADERS)) all.set(name, value);
    return new Response(body, { status, headers: all });
  },
);

precacheAndRoute(
  [
    { url: SHELL, revision: __PERCH_BUILD__ },
    // Their names carry a hash of what is in them.
    ...[...immutable.map(({ path }) => path).filter((path) => !inLocales.has(path)), ...pathsOf(false)].map((path) => ({
      url: SHELL + path,
      revision: null,
    })),
    ...assets
      .filter(({ path }) => !path.includes('screenshot-'))
      .map(({ path }) => ({ url: SHELL + path.replace(/^\//, ''), revision: __PERCH_BUILD__ })),
    ...(__PERCH_DEMO__ ? [{ url: `${SHELL}left.html`, revision: __PERCH_BUILD__ }] : []),
  ],
  { directoryIndex: '', cleanURLs: false },
);
cleanupOutdatedCaches();
registerRoute(new NavigationRoute(createHandlerBoundToURL(SHELL), { denylist: NOT_PAGES }));

/** Content shared by other programs is posted, with or without a network; the page that opens takes it. */
registerRoute(
  ({ url }) => url.pathname === SHARE,
  async ({ request }) => {
    const query = await keepShared(request).then(
      (id) => `id=${id}`,
      () => 'lost',
    );
    return Response.redirect(`${SHARE}?${query}`, 303);
  },
  'POST',
);

/** Readers of documents and the like: kept when they are first used, or when the app is there and there is time. */
const HEAVY_CACHE = `perch-heavy${MARK}`;
const heavy = new Set(pathsOf(true).map((path) => SHELL + path));
registerRoute(
  ({ url }) => heavy.has(url.pathname),
  ({ request, url }) => keptOnceUsed(HEAVY_CACHE, request, url.pathname),
);

/** Runtime of models in the browser: cached when the first one is loaded, so that models work offline too. */
const ONNX_CACHE = 'perch-onnx';
registerRoute(
  ({ url }) => url.pathname.startsWith('/_app/immutable/onnx-'),
  ({ request, url }) => keptOnceUsed(ONNX_CACHE, request, url.pathname, url.pathname.replace(/[^/]+$/, '')),
);

/** The Mermaid library: cached when the first diagram is drawn. */
const DIAGRAMS_CACHE = `perch-diagrams${MARK}`;
registerRoute(
  ({ url }) => url.pathname === SHELL + __PERCH_MERMAID__,
  ({ request, url }) => keptOnceUsed(DIAGRAMS_CACHE, request, url.pathname, url.pathname),
);

const LOCALE_CACHE = `perch-locale${MARK}`;
/** Under which the cache says what it has. */
const LOCALE_KEY = `${SHELL}locale`;
registerRoute(
  ({ url }) => inLocales.has(url.pathname.slice(SHELL.length)),
  async ({ request, url }) => (await (await caches.open(LOCALE_CACHE)).match(url.pathname)) ?? fetch(request),
);

let localeKept = Promise.resolve();

/**
 * Keeps the words of a language, so that the app speaks it without a network. Without one: of the language that an earlier version has kept.
 * One after the other: of two at a time the first would throw away what the second has fetched.
 */
function keepLocale(spoken?: string): Promise<void> {
  localeKept = localeKept.then(() => fetchLocale(spoken)).catch(() => {});
  return localeKept;
}

async function fetchLocale(spoken: string | undefined): Promise<void> {
  const cache = await caches.open(LOCALE_CACHE);
  const locale = spoken ?? (await (await cache.match(LOCALE_KEY))?.text()) ?? '';
  const paths = (localeFiles[locale] ?? []).map((path) => SHELL + path);
  for (const path of paths) if (!(await cache.match(path))) await cache.add(path);
  await cache.put(LOCALE_KEY, new Response(locale));
  // An earlier version's are still spoken until a page lets this one in.
  if (spoken === undefined) return;
  for (const { url } of await cache.keys()) if (![LOCALE_KEY, ...paths].includes(new URL(url).pathname)) await cache.delete(url);
}

/** Files whose names change with what is in them. `only`: what else is kept begins so, or goes. */
async function keptOnceUsed(name: string, request: Request, path: string, only = ''): Promise<Response> {
  const cache = await caches.open(name);
  const kept = await cache.match(path);
  if (kept) return kept;
  const response = await fetch(request);
  if (!response.ok) return response;
  for (const { url } of await cache.keys()) if (!new URL(url).pathname.startsWith(only)) await cache.delete(url);
  await cache.put(path, response.clone());
  return response;
}

async function keepHeavy(): Promise<void> {
  const cache = await caches.open(HEAVY_CACHE);
  for (const { url } of await cache.keys()) if (!heavy.has(new URL(url).pathname)) await cache.delete(url);
  for (const path of heavy) if (!(await cache.match(path))) await cache.add(path);
}

self.addEventListener('install', (event) => event.waitUntil(keepLocale()));

// The first visit's pages have it at once; later ones when a page lets it in.
self.addEventListener('activate', (event) => {
  event.waitUntil(self.clients.claim());
  // Not waited for: until this worker is active no page is answered by it.
  void keepHeavy().catch(() => {});
});

self.addEventListener('notificationclick', (event) => {
  event.notification.close();
  const { href } = event.notification.data as { href: string };
  event.waitUntil(open(href));
});

/** Shows a place of the app: in a tab that is there already, the one that shows it first. */
async function open(href: string): Promise<void> {
  const tabs = await self.clients.matchAll({ type: 'window' });
  const pages = tabs.filter(({ url }) => new URL(url).pathname !== '/host');
  const tab = pages.find(({ url }) => new URL(url).pathname === href) ?? pages[0];
  if (!tab) return void (await self.clients.openWindow(href));
  tab.postMessage({ type: 'OPEN', href });
  await tab.focus();
}

self.addEventListener('message', (event) => {
  const { type, locale } = (event.data ?? {}) as { type?: unknown; locale?: unknown };
  if (type === 'SKIP_WAITING') void self.skipWaiting();
  if (type === 'SPEAK') event.waitUntil(keepLocale(String(locale)));
});
