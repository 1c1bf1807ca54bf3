import { deleteDB } from 'idb';
import { BASE, MARK, named } from './demo.ts';
import { gateway } from './gateway/connection.svelte.ts';
import { locale } from './i18n/locale.ts';

const OPEN = named('perch-open');
/** The channel object of this page: messages posted on it reach only other tabs. */
const channel = new BroadcastChannel(named('perch-left'));
const tab = { close: (): void => {} };

/**
 * Address to go to after leaving the demo: the app itself, or for a demo-only build a page about how to get the app. Call it before
 * anything is deleted: offline, only the service worker has that page.
 */
async function goodbye(): Promise<string> {
  if (!__PERCH_DEMO__) return '/';
  const page = new URL(`${BASE}left.html`, location.origin).href;
  const there = await fetch(`${page}?there`, { method: 'HEAD', cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  );
  const words = there
    ? null
    : await fetch(page).then(
        (response) => response.text(),
        () => null,
      );
  if (words === null) return `${page}#${locale}`;
  const whole = new Blob([words.replaceAll('="./', `="${new URL('.', page).href}`)], { type: 'text/html' });
  return `${URL.createObjectURL(whole)}#${locale}`;
}

function forgetTab(): void {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith('perch.')) sessionStorage.removeItem(key);
}

/** Follows another tab out of the demo, from now on. */
export function followLeaving(): void {
  channel.onmessage = async () => {
    forgetTab();
    location.replace(await goodbye());
  };
  void navigator.locks.request(OPEN, { mode: 'shared' }, () => new Promise<void>((resolve) => (tab.close = resolve)));
}

/**
 * Leaves the demo in all tabs and deletes its data in this browser: databases, settings, caches, and in a demo-only build the service
 * worker. Rejects if something cannot be deleted.
 */
export async function leaveDemo(): Promise<void> {
  const to = await goodbye();
  channel.postMessage('left');
  tab.close();
  // Granted once no other tab can start the gateway again.
  await navigator.locks.request(OPEN, async () => {
    await gateway.end();
    if (__PERCH_DEMO__) for (const each of await navigator.serviceWorker.getRegistrations()) if (isOwn(each.scope)) await each.unregister();
    for (const name of await caches.keys()) if (isOwn(name)) await caches.delete(name);
    for (const { name = '' } of await indexedDB.databases()) if (name.endsWith(MARK)) await deleteDB(name);
    for (const key of Object.keys(localStorage)) if (key.startsWith(`${named('perch')}.`)) localStorage.removeItem(key);
    forgetTab();
  });
  location.replace(to);
}

/**
 * Caches of the demo have its suffix. The app's files are cached under the scope of the service worker, which belongs to the demo in a
 * demo-only build.
 */
const isOwn = (name: string): boolean => name.endsWith(MARK) || (__PERCH_DEMO__ && name.endsWith(location.origin + BASE));
