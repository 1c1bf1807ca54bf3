import { demoMark } from '#shared/demo-mark.ts';

const ASKED = 'perch.demo';

/** The path that the app is served under: `/`, or in a demo-only build the path of its folder. */
export const BASE = __PERCH_DEMO__ ? new URL('.', location.href).pathname : '/';

/** `?demo` holds for the tab, until it leaves the demo; `?demo=0` is a way to leave it, which deletes nothing. */
function asked(): boolean {
  if (typeof location === 'undefined') return false;
  const said = new URLSearchParams(location.search).get('demo');
  const refused = /^(0|false|no|off)$/i.test(said ?? '');
  const here = said !== null && !refused;
  try {
    if (here) sessionStorage.setItem(ASKED, 'yes');
    if (refused) sessionStorage.removeItem(ASKED);
    return sessionStorage.getItem(ASKED) !== null;
  } catch {
    return here;
  }
}

/** This page shows the demo: scripted models, made-up data, no bridge. */
export const inDemo: boolean = __PERCH_DEMO__ || asked();

/** Empty outside of the demo. */
export const MARK = inDemo ? demoMark(BASE) : '';

/** A name that all pages of one origin share, as it is in the demo and outside of it. */
export const named = (name: string): string => name + MARK;

/**
 * The full address of a path of the app, for another tab: behind the `#` in a demo-only build, with `?demo` if the demo is shown that way.
 */
export function addressOf(path: string): string {
  if (__PERCH_DEMO__) return new URL(`#${path}`, location.href).href;
  const address = new URL(path, location.origin);
  if (inDemo) address.searchParams.set('demo', '');
  return address.href;
}
