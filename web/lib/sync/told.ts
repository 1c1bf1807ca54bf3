const TOLD = 'perch.outdated-told';

/** Whether to show that this build is older than the data: once per tab and build, to avoid a redirect loop. */
export function tellOutdated(): boolean {
  if (sessionStorage.getItem(TOLD) === __PERCH_BUILD__) return false;
  sessionStorage.setItem(TOLD, __PERCH_BUILD__);
  return true;
}
