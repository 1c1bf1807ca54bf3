// Caches the whole app, including the gateway's worker, so that it opens offline. A new version is cached alongside the current one and
// waits until a page activates it (`SKIP_WAITING`), so the app is never replaced while in use.
import { assets, immutable } from '$app/manifest';
import { self } from '$app/service-worker';
import { cleanupOutdatedCaches, createHandlerBoundToURL, matchPrecache, precacheAndRoute } from 'workbox-precaching';
import { NavigationRoute, registerRoute } from 'workbox-routing';
import { getDemoSuffix } from '#shared/demo-suffix.ts';
import { FRAME_FILE, FRAME_HEADERS } from '#shared/preview-frame.ts';
import { answerPush, confirmOpened, type NotificationData, showPush } from '#app/push/push-receiver.ts';
import { storeShared, SHARE_PATH } from '#app/incoming/shared-form.ts';

const SCOPE_PATH = new URL(self.registration.scope).pathname;
/** Suffix of cache names, as other folders of the same origin may have a service worker too. */
const CACHE_SUFFIX = __PERCH_DEMO__ ? getDemoSuffix(SCOPE_PATH) : '';

/** Navigations that the cached app must not answer: routes of the bridge, the page of the managed browser, and the end page of the demo. */
const NON_PAGE_PATHS = [
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

/** Chunks that the worker loads on demand. SvelteKit does not list them, so the build inserts their paths (vite.config.ts). */
const workerChunks = JSON.parse('__PERCH_WORKER_PARTS__') as { path: string; heavy: boolean }[];
const getChunkPaths = (heavy: boolean): string[] => workerChunks.filter((chunk) => chunk.heavy === heavy).map(({ path }) => path);

/** Message files of each language, inserted by the build. Only the current language is cached. */
const localeFiles = JSON.parse('__PERCH_LOCALE_FILES__') as Record<string, string[]>;
const allLocaleFiles = new Set(Object.values(localeFiles).flat());

/** Static file hosts send none of our headers, so the frame for untrusted content gets its headers here. */
registerRoute(
  ({ url }) => url.origin === location.origin && url.pathname === SCOPE_PATH + FRAME_FILE,
  async ({ request, url }) => {
    const { body, headers, status } = (await matchPrecache(url.pathname)) ?? (await fetch(request));
    const all = new Headers(headers);
    for (const [name, value] of Object.entries(FRAME_HEADERS)) all.set(name, value);
    return new Response(body, { status, headers: all });
  },
);

precacheAndRoute(
  [
    { url: SCOPE_PATH, revision: __PERCH_BUILD__ },
    // No revision: the names contain a hash of the content.
    ...[...immutable.map(({ path }) => path).filter((path) => !allLocaleFiles.has(path)), ...getChunkPaths(false)].map((path) => ({
      url: SCOPE_PATH + path,
      revision: null,
    })),
    ...assets
      .filter(({ path }) => !path.includes('screenshot-'))
      .map(({ path }) => ({ url: SCOPE_PATH + path.replace(/^\//, ''), revision: __PERCH_BUILD__ })),
    ...(__PERCH_DEMO__ ? [{ url: `${SCOPE_PATH}left.html`, revision: __PERCH_BUILD__ }] : []),
  ],
  { directoryIndex: '', cleanURLs: false },
);
cleanupOutdatedCaches();
registerRoute(new NavigationRoute(createHandlerBoundToURL(SCOPE_PATH), { denylist: NON_PAGE_PATHS }));

/** Stores content that another program shares by a POST request, also offline. The page then reads it by its id. */
registerRoute(
  ({ url }) => url.pathname === SHARE_PATH,
  async ({ request }) => {
    const query = await storeShared(request).then(
      (id) => `id=${id}`,
      () => 'lost',
    );
    return Response.redirect(`${SHARE_PATH}?${query}`, 303);
  },
  'POST',
);

/** Document readers and other large files: cached on first use, or when the browser is idle. */
const HEAVY_CACHE = `perch-heavy${CACHE_SUFFIX}`;
const heavyPaths = new Set(getChunkPaths(true).map((path) => SCOPE_PATH + path));
registerRoute(
  ({ url }) => heavyPaths.has(url.pathname),
  ({ request, url }) => cacheOnFirstUse(HEAVY_CACHE, request, url.pathname),
);

/** ONNX runtime for models in the browser, cached on first use so that models also work offline. */
const ONNX_CACHE = 'perch-onnx';
registerRoute(
  ({ url }) => url.pathname.startsWith('/_app/immutable/onnx-'),
  ({ request, url }) => cacheOnFirstUse(ONNX_CACHE, request, url.pathname, url.pathname.replace(/[^/]+$/, '')),
);

/** Mermaid library, cached when the first diagram is drawn. */
const DIAGRAMS_CACHE = `perch-diagrams${CACHE_SUFFIX}`;
registerRoute(
  ({ url }) => url.pathname === SCOPE_PATH + __PERCH_MERMAID__,
  ({ request, url }) => cacheOnFirstUse(DIAGRAMS_CACHE, request, url.pathname, url.pathname),
);

const LOCALE_CACHE = `perch-locale${CACHE_SUFFIX}`;
/** Cache entry with the name of the cached language. */
const LOCALE_KEY = `${SCOPE_PATH}locale`;
registerRoute(
  ({ url }) => allLocaleFiles.has(url.pathname.slice(SCOPE_PATH.length)),
  async ({ request, url }) => (await (await caches.open(LOCALE_CACHE)).match(url.pathname)) ?? fetch(request),
);

let localeCached = Promise.resolve();

/**
 * Caches the messages of a language for offline use; by default, the language that an earlier version cached. Calls are queued, since one
 * of two concurrent calls would delete files that the other has fetched.
 */
function cacheLocale(requestedLocale?: string): Promise<void> {
  localeCached = localeCached.then(() => fetchLocale(requestedLocale)).catch(() => {});
  return localeCached;
}

async function fetchLocale(requestedLocale: string | undefined): Promise<void> {
  const cache = await caches.open(LOCALE_CACHE);
  const locale = requestedLocale ?? (await (await cache.match(LOCALE_KEY))?.text()) ?? '';
  const paths = (localeFiles[locale] ?? []).map((path) => SCOPE_PATH + path);
  for (const path of paths) if (!(await cache.match(path))) await cache.add(path);
  await cache.put(LOCALE_KEY, new Response(locale));
  // During installation, pages still use the messages of the earlier version.
  if (requestedLocale === undefined) return;
  for (const { url } of await cache.keys()) if (![LOCALE_KEY, ...paths].includes(new URL(url).pathname)) await cache.delete(url);
}

/** Caches files whose names change with their content. `only`: other cached entries without this prefix are deleted. */
async function cacheOnFirstUse(name: string, request: Request, path: string, only = ''): Promise<Response> {
  const cache = await caches.open(name);
  const cached = await cache.match(path);
  if (cached) return cached;
  const response = await fetch(request);
  if (!response.ok) return response;
  for (const { url } of await cache.keys()) if (!new URL(url).pathname.startsWith(only)) await cache.delete(url);
  await cache.put(path, response.clone());
  return response;
}

async function cacheHeavy(): Promise<void> {
  const cache = await caches.open(HEAVY_CACHE);
  for (const { url } of await cache.keys()) if (!heavyPaths.has(new URL(url).pathname)) await cache.delete(url);
  for (const path of heavyPaths) if (!(await cache.match(path))) await cache.add(path);
}

self.addEventListener('install', (event) => event.waitUntil(cacheLocale()));

// Runs at once on the first visit; later versions wait for `SKIP_WAITING`.
self.addEventListener('activate', (event) => {
  event.waitUntil(self.clients.claim());
  // Not awaited: requests wait until activation has finished.
  void cacheHeavy().catch(() => {});
});

self.addEventListener('push', (event) => event.waitUntil(showPush(self, event.data)));

self.addEventListener('notificationclick', (event) => {
  event.notification.close();
  const data = event.notification.data as NotificationData;
  const answer = data.answers?.[event.action];
  if (answer !== undefined) return event.waitUntil(answerPush(self, event.notification, answer));
  // The page first: a window may be opened only shortly after the click.
  event.waitUntil(Promise.all([openPage(data.href), confirmOpened(data)]));
});

/** Opens a page of the app, if possible in an existing tab, preferably one that already shows the page. */
async function openPage(href: string): Promise<void> {
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
  if (type === 'SPEAK') event.waitUntil(cacheLocale(String(locale)));
});
