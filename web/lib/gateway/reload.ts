const RELOADED_FOR = 'perch.reloaded-for';

/** A newer build has taken over, and this page could not be replaced by one of it. */
export const staleBuild = (): boolean => sessionStorage.getItem(RELOADED_FOR) === __PERCH_BUILD__;

/** A build mismatch reloads once, never in a circle. */
export function reloadOnce(): void {
  if (staleBuild()) return;
  sessionStorage.setItem(RELOADED_FOR, __PERCH_BUILD__);
  location.reload();
}
