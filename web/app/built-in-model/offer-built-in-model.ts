import type { PageWorkerProvider } from '#shared/ports/host-api.ts';
import { locale } from '../i18n/locale.ts';
import { findBestOptions, getLanguageModel } from './language-model.ts';

/**
 * Offers the browser's own model with `lend` when it is available. Returns a function that withdraws it. The code for it is loaded only if
 * there is a model.
 */
export async function offerBuiltInModel(lend: (lender: PageWorkerProvider) => Promise<void>): Promise<() => void> {
  const model = getLanguageModel();
  if (!model || (await findBestOptions(model, locale)).availability === 'unavailable') return () => {};
  const { builtInModel } = await import('../state/built-in-model.svelte.ts');
  const unsubscribe = builtInModel.onready(async () => {
    const { builtInProvider } = await import('./built-in-provider.ts');
    await lend(builtInProvider);
    // Adds the model to the list.
    const { models } = await import('../state/models.svelte.ts');
    await models.load();
  });
  await builtInModel.refresh();
  return unsubscribe;
}
