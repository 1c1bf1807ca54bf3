const GIB = 1024 ** 3;
/** What Chromium adds at the most. */
const MOST = 10 * GIB;

/**
 * The bytes that a browser gives this origin, of `navigator.storage.estimate()`; null where it does not say. Chromium tells every site the same, so that none is known by its
 * disk: what it uses and 10 GiB more, or the disk's size in whole GiB where that is less, whatever room there is (seen in 156; its feature `StaticStorageQuota`).
 */
export function toldQuota({ usage, quota }: { usage: number; quota: number }): number | null {
  const rest = quota - usage;
  if (quota <= 0 || (rest > 0 && rest <= MOST && rest % GIB === 0)) return null;
  return quota;
}
