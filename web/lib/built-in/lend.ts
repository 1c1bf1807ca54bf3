import type { WorkerLender } from '#shared/ports/host.ts';
import { locale } from '#lib/i18n/locale.ts';
import { bestWish, languageModel } from './language-model.ts';

/**
 * Offers the browser's own model with `lend` when it is available; the result withdraws it. The code for it is loaded only if there is a
 * model.
 */
export async function lendBuiltIn(lend: (lender: WorkerLender) => Promise<void>): Promise<() => void> {
  const model = languageModel();
  if (!model || (await bestWish(model, locale)).availability === 'unavailable') return () => {};
  const [{ builtInModel }, { builtInLender }] = await Promise.all([import('#lib/state/built-in-model.svelte.ts'), import('./lender.ts')]);
  const off = builtInModel.onready(async () => {
    await lend(builtInLender);
    // The model appears in the list from now on.
    const { models } = await import('#lib/state/models.svelte.ts');
    await models.load();
  });
  await builtInModel.look();
  return off;
}
