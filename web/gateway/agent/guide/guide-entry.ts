import type { Lazy } from '../../system/modules.ts';
import { createListedModel, type Provider, ProviderError } from '../../providers/provider.ts';
import type { GuideProvider } from './guide.ts';

/** Description of the guide, available without loading it. */
export const GUIDE = {
  id: 'guide',
  name: 'Guide',
  models: () => Promise.resolve([createListedModel('guide', { name: 'Guide (no model)', tools: true, vision: false, thinking: false })]),
};

/** The guide among the providers. */
export const createGuideEntry = ({ load }: Lazy<GuideProvider>): Provider => ({
  ...GUIDE,
  async *stream(request, signal) {
    const guide = await load().catch((cause: unknown) => {
      throw new ProviderError('The guide could not be loaded', { retryable: true, cause });
    });
    yield* guide.stream(request, signal);
  },
});
