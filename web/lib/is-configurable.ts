import type { ProviderEntry, ProviderKind } from '#shared/rpc/record-schemas.ts';

const BUILT_IN_KINDS: readonly ProviderEntry['kind'][] = ['guide', 'gguf', 'mlx', 'browser', 'builtin'];

/** Whether providers of a kind are the person's to add, change and remove: what Perch runs itself has neither address nor key. */
export const isConfigurable = (kind: ProviderEntry['kind']): kind is ProviderKind => !BUILT_IN_KINDS.includes(kind);
