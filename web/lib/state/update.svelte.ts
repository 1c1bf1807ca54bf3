import { BASE, named } from '#lib/demo.ts';
import { loadWords } from '#lib/i18n/load.ts';
import { locale } from '#lib/i18n/locale.ts';
import { whenIdle } from '#lib/idle.ts';
import { scriptURL } from '#lib/trusted.ts';

/** By then what is wanted later is loaded. */
const LOAD_MS = 5_000;
const LOOK_EVERY_MS = 30 * 60_000;
/** How long a new version may take to come when it is asked for. */
const FETCH_MS = 20_000;
/**
 * Asked again until the page reloads: where the service worker in use is just being stopped, Chromium 156 starts it once more and lets the new one
 * in only when that has been idle for half a minute, or never while it has work.
 */
const ASK_EVERY_MS = 1_000;

/** Held by each tab that has what a reload would lose. */
const UNKEPT = named('perch-unkept');

/** No tab lets a new version in before this is undone: this one has what the reload would lose. */
export function holdUpdates(): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  void navigator.locks.request(UNKEPT, { mode: 'shared' }, () => promise);
  return resolve;
}

const loadMissedParts = async (): Promise<void> => {
  await loadWords('later');
  (await import('./missed-parts.ts')).tellMissedParts();
};

/** The app's own updates: a new version is fetched in the background and asks before it takes over. */
class Update {
  /** A new version waits to be let in. */
  ready = $state(false);
  /** It has been let in, and is about to reload every tab. */
  accepted = $state(false);
  /** It has been let in, but waits until nothing would be lost by it. */
  held = $state(false);
  #registration: ServiceWorkerRegistration | undefined;

  start(): void {
    if (!('serviceWorker' in navigator) || import.meta.env.DEV) return;
    // Whichever tab accepted: all of them go on with the new version.
    let controlled = navigator.serviceWorker.controller !== null;
    navigator.serviceWorker.addEventListener('controllerchange', () => {
      if (controlled) location.reload();
      controlled = true;
    });
    void this.#register();
  }

  /** Parts of the app that do not come because it was replaced are told from now on. May be called again. */
  tellMissed(): void {
    // Before it can be missed itself; where it is, parts say of themselves that they are not there.
    whenIdle(() => void loadMissedParts().catch(() => {}), LOAD_MS);
  }

  accept(): void {
    if (this.accepted) return;
    this.accepted = true;
    const ask = (lock: Lock | null): void => {
      this.held = lock === null;
      if (lock) this.#registration?.waiting?.postMessage({ type: 'SKIP_WAITING' });
    };
    const look = (): void => void navigator.locks.request(UNKEPT, { ifAvailable: true }, ask);
    look();
    setInterval(look, ASK_EVERY_MS);
  }

  /** Looks for a new version and reloads into it; reloads in any case, for the page itself may be the old part. */
  async reload(): Promise<void> {
    if (!this.ready) await Promise.race([this.#fetch().catch(() => {}), new Promise((resolve) => setTimeout(resolve, FETCH_MS))]);
    // Once it is let in, all tabs reload.
    if (this.ready) this.accept();
    else location.reload();
  }

  /** Resolves when a new version is ready, or there is none. */
  async #fetch(): Promise<void> {
    const registration = (this.#registration ??= await navigator.serviceWorker?.getRegistration(BASE));
    await registration?.update();
    const installing = registration?.installing;
    if (installing) {
      await new Promise<void>((resolve) => {
        installing.addEventListener('statechange', () => installing.state !== 'installing' && resolve());
      });
    }
    this.#look();
  }

  async #register(): Promise<void> {
    try {
      const registration = await navigator.serviceWorker.register(scriptURL(`${BASE}service-worker.js`), { scope: BASE });
      this.#registration = registration;
      const follow = (): void => registration.installing?.addEventListener('statechange', () => this.#look());
      registration.addEventListener('updatefound', follow);
      follow();
      this.#look();
      void navigator.serviceWorker.ready.then(({ active }) => active?.postMessage({ type: 'SPEAK', locale }));
      setInterval(() => void registration.update().catch(() => {}), LOOK_EVERY_MS);
    } catch {
      // No service worker in this browser or window: the app works, but not offline.
    }
  }

  /** The very first one passes through "waiting" too, with none before it: it is not an update. */
  #look(): void {
    const { waiting, active } = this.#registration ?? {};
    this.ready = waiting != null && active != null;
  }
}

export const update = new Update();
