import { getDemoSuffix } from '#shared/demo-suffix.ts';

const DEMO_KEY = 'perch.demo';

/** The path that the app is served under: `/`, or in a demo-only build the path of its folder. */
export const BASE_PATH = __PERCH_DEMO__ ? new URL('.', location.href).pathname : '/';

/** `?demo` holds for the tab, until it leaves the demo; `?demo=0` is a way to leave it, which deletes nothing. */
function isDemoRequested(): boolean {
  if (typeof location === 'undefined') return false;
  const param = new URLSearchParams(location.search).get('demo');
  const refused = /^(0|false|no|off)$/i.test(param ?? '');
  const here = param !== null && !refused;
  try {
    if (here) sessionStorage.setItem(DEMO_KEY, 'yes');
    if (refused) sessionStorage.removeItem(DEMO_KEY);
    return sessionStorage.getItem(DEMO_KEY) !== null;
  } catch {
    return here;
  }
}

/** This page shows the demo: scripted models, made-up data, no bridge. */
export const isDemo: boolean = __PERCH_DEMO__ || isDemoRequested();

/** Empty outside of the demo. */
export const DEMO_SUFFIX = isDemo ? getDemoSuffix(BASE_PATH) : '';

/** A name that all pages of one origin share, as it is in the demo and outside of it. */
export const toScopedName = (name: string): string => name + DEMO_SUFFIX;

/**
 * The full address of a path of the app, for another tab: behind the `#` in a demo-only build, with `?demo` if the demo is shown that way.
 */
export function toFullAddress(path: string): string {
  if (__PERCH_DEMO__) return new URL(`#${path}`, location.href).href;
  const address = new URL(path, location.origin);
  if (isDemo) address.searchParams.set('demo', '');
  return address.href;
}
