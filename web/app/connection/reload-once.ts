const RELOAD_KEY = 'perch.reloaded-for';

/** Whether this page is still of an old build after a reload for a newer one. */
export const isBuildStale = (): boolean => sessionStorage.getItem(RELOAD_KEY) === __PERCH_BUILD__;

/** Reloads the page after a build mismatch, only once, to avoid a loop. */
export function reloadOnce(): void {
  if (isBuildStale()) return;
  sessionStorage.setItem(RELOAD_KEY, __PERCH_BUILD__);
  location.reload();
}
