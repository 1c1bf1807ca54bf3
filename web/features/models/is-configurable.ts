import type { ProviderEntry, ProviderKind } from '#shared/rpc/record-schemas.ts';

const BUILT_IN_KINDS: readonly ProviderEntry['kind'][] = ['guide', 'gguf', 'mlx', 'browser', 'builtin'];

/** Whether providers of a kind can be added, changed and removed by the person; built-in ones have neither address nor key. */
export const isConfigurable = (kind: ProviderEntry['kind']): kind is ProviderKind => !BUILT_IN_KINDS.includes(kind);
