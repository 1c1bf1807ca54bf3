import { gateway } from '#lib/gateway/connection.svelte.ts';
import { m } from '#lib/i18n/later.ts';
import { kept } from './kept.ts';
import { toasts } from './toasts.svelte.ts';

const KEY = 'earlier-policies';

/** Says once in each browser that commands which an older build always allowed mean less now. Best effort: without an answer the next card asks again. */
export async function tellOfEarlierPolicies(): Promise<void> {
  if (kept.read(KEY) !== null) return;
  try {
    const { policies } = await gateway.call('exec.policies', {});
    if (kept.read(KEY) !== null || !policies.some(({ grantee }) => grantee === undefined)) return;
    kept.write(KEY, 'told');
    toasts.show(m.approval_earlier(), { sticky: true });
  } catch {
    // See above.
  }
}
