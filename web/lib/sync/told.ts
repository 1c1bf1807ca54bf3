const TOLD = 'perch.outdated-told';

/** Whether the person is to be told that this build is older than the data: once a tab and build, so that nobody is led there in a circle. */
export function tellOutdated(): boolean {
  if (sessionStorage.getItem(TOLD) === __PERCH_BUILD__) return false;
  sessionStorage.setItem(TOLD, __PERCH_BUILD__);
  return true;
}
