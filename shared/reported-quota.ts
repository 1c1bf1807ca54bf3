const GIB_BYTES = 1024 ** 3;
/** Maximum that Chromium adds. */
const MAX_ADDED_BYTES = 10 * GIB_BYTES;

/**
 * Quota of this origin in bytes, from `navigator.storage.estimate()`; null if the browser does not reveal it. Chromium reports the same to
 * every site, so that none is identified by its disk: its usage plus 10 GiB, or the disk's size in whole GiB if that is less, regardless of
 * free space (observed in 156; its feature `StaticStorageQuota`).
 */
export function getReportedQuota({ usage, quota }: { usage: number; quota: number }): number | null {
  const rest = quota - usage;
  if (quota <= 0 || (rest > 0 && rest <= MAX_ADDED_BYTES && rest % GIB_BYTES === 0)) return null;
  return quota;
}
