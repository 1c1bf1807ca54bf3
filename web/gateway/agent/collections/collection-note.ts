import type { Vault } from '../../storage/vault-interface.ts';
import type { Agent } from '../agents.ts';

const MAX_NOTED = 20;
const MAX_DESCRIPTION_CHARS = 300;

/**
 * Names the attached collections for the model; empty if it cannot search them. The text changes only with the collections' settings, so that
 * prompts are served from the provider's cache.
 */
export async function createCollectionNote(
  vault: Pick<Vault, 'collection'>,
  { config: { collections = [] } }: Pick<Agent, 'config'>,
  offered: readonly { name: string }[],
): Promise<string> {
  if (collections.length === 0 || !offered.some(({ name }) => name === 'collection_search')) return '';
  const records = await Promise.all(collections.slice(0, MAX_NOTED).map((id) => vault.collection('collections').get(id)));
  const lines = records.flatMap((record) => {
    if (!record || record.isUnreviewed) return [];
    const description = record.description.replace(/\s+/g, ' ').slice(0, MAX_DESCRIPTION_CHARS);
    return `- ${record.name}${description === '' ? '' : `: ${description}`}`;
  });
  return lines.length === 0
    ? ''
    : `Collections of documents that you can search with collection_search. Answer questions about their content from them, and cite passages as [n]:\n${lines.join('\n')}`;
}
