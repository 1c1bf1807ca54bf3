import { deleteDB, openDB } from 'idb';
import { toResetMarker } from '#shared/demo-suffix.ts';
import { BASE_PATH, DEMO_SUFFIX, toScopedName } from '#app/state/demo.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { locale } from '#app/i18n/locale.ts';

/** Messages to other tabs. */
const [LEFT, RESET] = ['left', 'reset'];
const OPEN_MESSAGE = toScopedName('perch-open');
/** The channel object of this page: messages posted on it reach only other tabs. */
const channel = new BroadcastChannel(toScopedName('perch-left'));
const tabLock = { close: (): void => {} };

/**
 * Address to go to after leaving the demo: the app itself, or for a demo-only build a page about how to get the app. Call it before
 * anything is deleted: offline, only the service worker has that page.
 */
async function getExitAddress(): Promise<string> {
  if (!__PERCH_DEMO__) return '/';
  const page = new URL(`${BASE_PATH}left.html`, location.origin).href;
  const isReachable = await fetch(`${page}?there`, { method: 'HEAD', cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  );
  const pageHtml = isReachable
    ? null
    : await fetch(page).then(
        (response) => response.text(),
        () => null,
      );
  if (pageHtml === null) return `${page}#${locale}`;
  const pageBlob = new Blob([pageHtml.replaceAll('="./', `="${new URL('.', page).href}`)], { type: 'text/html' });
  return `${URL.createObjectURL(pageBlob)}#${locale}`;
}

function clearTabState(): void {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith('perch.')) sessionStorage.removeItem(key);
}

/** Where the demo begins. */
const getStartAddress = (): string => (__PERCH_DEMO__ ? BASE_PATH : `${BASE_PATH}?demo`);

const clearLocalStorage = (): void => {
  for (const key of Object.keys(localStorage)) if (key.startsWith(`${toScopedName('perch')}.`)) localStorage.removeItem(key);
};

/** Follows another tab out of the demo, or back to its beginning, from now on. */
export function watchDemoExit(): void {
  channel.onmessage = async ({ data }) => {
    clearTabState();
    location.replace(data === RESET ? getStartAddress() : await getExitAddress());
  };
  void navigator.locks.request(OPEN_MESSAGE, { mode: 'shared' }, () => new Promise<void>((resolve) => (tabLock.close = resolve)));
}

/**
 * Leaves the demo in all tabs and deletes its data in this browser: databases, settings, caches, and in a demo-only build the service
 * worker. Rejects if something cannot be deleted.
 */
export async function leaveDemo(): Promise<void> {
  const to = await getExitAddress();
  channel.postMessage(LEFT);
  tabLock.close();
  // Granted once no other tab can start the gateway again.
  await navigator.locks.request(OPEN_MESSAGE, async () => {
    await gateway.end();
    if (__PERCH_DEMO__)
      for (const each of await navigator.serviceWorker.getRegistrations()) if (isDemoCache(each.scope)) await each.unregister();
    for (const name of await caches.keys()) if (isDemoCache(name)) await caches.delete(name);
    for (const { name = '' } of await indexedDB.databases()) if (name.endsWith(DEMO_SUFFIX)) await deleteDB(name);
    clearLocalStorage();
    clearTabState();
  });
  location.replace(to);
}

/**
 * Starts the demo from the beginning in all tabs: the worker that follows deletes what the visitor did and adds the sample data again.
 * Rejects if drafts cannot be deleted.
 */
export async function resetDemo(): Promise<void> {
  (await openDB(toResetMarker(DEMO_SUFFIX))).close();
  await deleteDB(toScopedName('perch-page'));
  clearLocalStorage();
  clearTabState();
  channel.postMessage(RESET);
  await gateway.end();
  location.replace(getStartAddress());
}

/**
 * Caches of the demo have its suffix. The app's files are cached under the scope of the service worker, which belongs to the demo in a
 * demo-only build.
 */
const isDemoCache = (name: string): boolean => name.endsWith(DEMO_SUFFIX) || (__PERCH_DEMO__ && name.endsWith(location.origin + BASE_PATH));
