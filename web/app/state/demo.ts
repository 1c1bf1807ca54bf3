import { getDemoSuffix } from '#shared/demo-suffix.ts';

const DEMO_KEY = 'perch.demo';

/** The path that the app is served under: `/`, or in a demo-only build the path of its folder. */
export const BASE_PATH = __PERCH_DEMO__ ? new URL('.', location.href).pathname : '/';

/** Whether this tab shows the demo: from `?demo` until it leaves the demo. `?demo=0` leaves it without deleting its data. */
function isDemoRequested(): boolean {
  if (typeof location === 'undefined') return false;
  const param = new URLSearchParams(location.search).get('demo');
  const isDisabled = /^(0|false|no|off)$/i.test(param ?? '');
  const isEnabled = param !== null && !isDisabled;
  try {
    if (isEnabled) sessionStorage.setItem(DEMO_KEY, 'yes');
    if (isDisabled) sessionStorage.removeItem(DEMO_KEY);
    return sessionStorage.getItem(DEMO_KEY) !== null;
  } catch {
    return isEnabled;
  }
}

/** Whether this page shows the demo: scripted models, sample data, no bridge. */
export const isDemo: boolean = __PERCH_DEMO__ || isDemoRequested();

/** Empty outside of the demo. */
export const DEMO_SUFFIX = isDemo ? getDemoSuffix(BASE_PATH) : '';

/** Scopes a name that all pages of an origin share to the demo or the app. */
export const toScopedName = (name: string): string => name + DEMO_SUFFIX;

/**
 * The full address of a path of the app, for another tab: behind the `#` in a demo-only build, with `?demo` if the demo is shown that way.
 */
export function toFullAddress(path: string): string {
  if (__PERCH_DEMO__) return new URL(`#${path}`, location.href).href;
  const url = new URL(path, location.origin);
  if (isDemo) url.searchParams.set('demo', '');
  return url.href;
}
