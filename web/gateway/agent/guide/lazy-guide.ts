import { lazy } from '#shared/async/lazy.ts';
import { createListedModel, type Provider, ProviderError } from '../../providers/provider.ts';
import type { GuideOptions } from './guide.ts';

/** The guide, loaded on first use. */
export function createLazyGuide(options: GuideOptions): Provider {
  const load = lazy(async () => new (await import('./guide.ts')).GuideProvider(options));
  return {
    ...GUIDE,
    async *stream(request, signal) {
      const guide = await load().catch((cause: unknown) => {
        throw new ProviderError('The guide could not be loaded', { retryable: true, cause });
      });
      yield* guide.stream(request, signal);
    },
  };
}

/** Description of the guide, available without loading it. */
export const GUIDE = {
  id: 'guide',
  name: 'Guide',
  models: () => Promise.resolve([createListedModel('guide', { name: 'Guide (no model)', tools: true, vision: false, thinking: false })]),
};
