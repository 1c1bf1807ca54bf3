const RELOAD_KEY = 'perch.reloaded-for';

/** A newer build has taken over, and this page could not be replaced by one of it. */
export const isBuildStale = (): boolean => sessionStorage.getItem(RELOAD_KEY) === __PERCH_BUILD__;

/** A build mismatch reloads once, never in a circle. */
export function reloadOnce(): void {
  if (isBuildStale()) return;
  sessionStorage.setItem(RELOAD_KEY, __PERCH_BUILD__);
  location.reload();
}
