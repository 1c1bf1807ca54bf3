const NOTICE_KEY = 'perch.outdated-told';

/** Whether to show that this build is older than the data: once per tab and build, to avoid a redirect loop. */
export function shouldNotifyOutdated(): boolean {
  if (sessionStorage.getItem(NOTICE_KEY) === __PERCH_BUILD__) return false;
  sessionStorage.setItem(NOTICE_KEY, __PERCH_BUILD__);
  return true;
}
