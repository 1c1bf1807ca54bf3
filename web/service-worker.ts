import { assets, immutable } from '$app/manifest';
import { self } from '$app/service-worker';
import { cleanupOutdatedCaches, createHandlerBoundToURL, precacheAndRoute } from 'workbox-precaching';
import { NavigationRoute, registerRoute } from 'workbox-routing';

/**
 * Keeps the whole app, the gateway's worker included, so that it opens without a network. A new version is fetched beside the one in
 * use and waits until a page lets it in (`SKIP_WAITING`): nothing is swapped under a person's hands.
 */
const SHELL = '/';

/** Not pages: the bridge's own ways, and the page of the managed browser. Never answered from the cache. */
const NOT_PAGES = [/^\/v1(\/|$)/, /^\/ws$/, /^\/uplink$/, /^\/health$/, /^\/link(\/|$)/, /^\/host$/];

/** Parts of the worker that it loads when they are wanted, which SvelteKit does not know of: the build puts their paths here (vite.config.ts). */
const workerParts = JSON.parse('__PERCH_WORKER_PARTS__') as string[];

precacheAndRoute(
  [
    { url: SHELL, revision: __PERCH_BUILD__ },
    // Their names carry a hash of what is in them.
    ...[...immutable.map(({ path }) => path), ...workerParts].map((path) => ({ url: `/${path}`, revision: null })),
    ...assets
      .filter(({ path }) => !path.includes('screenshot-'))
      .map(({ path }) => ({ url: `/${path}`.replace('//', '/'), revision: __PERCH_BUILD__ })),
  ],
  { directoryIndex: '', cleanURLs: false },
);
cleanupOutdatedCaches();
registerRoute(new NavigationRoute(createHandlerBoundToURL(SHELL), { denylist: NOT_PAGES }));

// The first visit's pages have it at once; later ones when a page lets it in.
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));

self.addEventListener('message', (event) => {
  if ((event.data as { type?: unknown } | null)?.type === 'SKIP_WAITING') void self.skipWaiting();
});
