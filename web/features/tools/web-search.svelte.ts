import { SEARCH_PROVIDERS, type SearchProviderId } from '#shared/search-providers.ts';
import { isConnectionLost, type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { m } from '#app/i18n/messages.ts';
import { readSetting } from '#app/state/read-setting.ts';

export type SearchChoice = SearchProviderId | 'off';

export interface StoredSearch {
  choice: SearchChoice;
  hasKey: boolean;
  url: string;
  model: string;
}

/** Query of the connection test. */
const TEST_QUERY = 'weather';

/** Settings of the web search. */
class WebSearchSettings {
  /** Null before the first answer. */
  stored = $state.raw<StoredSearch | null>(null);
  problem = $state.raw<Problem | null>(null);

  async load(): Promise<void> {
    try {
      this.stored = toStored(await readSetting('tools.webSearch'));
      this.problem = null;
    } catch (error) {
      if (!isConnectionLost(error)) this.problem = toProblem(error, m.tools_doing_read_search());
    }
  }

  /** An empty key keeps the stored one, unless the service changes. Rejects if the gateway refuses. */
  async save({ choice, key, url, model }: { choice: SearchChoice; key: string; url: string; model: string }): Promise<void> {
    const isSame = choice === this.stored?.choice;
    const webSearch =
      choice === 'off'
        ? null
        : {
            provider: choice,
            url: choice === 'searxng' ? url : isSame ? undefined : null,
            model: choice === 'model' ? model : null,
            apiKey: key !== '' ? key : isSame ? undefined : null,
          };
    await gateway.call('config.patch', { patch: { tools: { webSearch } } });
    await this.load();
  }

  /** Sends a query. Rejects with the reason of the service. */
  async test(): Promise<{ count: number; provider: string }> {
    const { results, provider } = await gateway.call('web.search', { query: TEST_QUERY });
    return { count: results.length, provider };
  }
}

function toStored(value: unknown): StoredSearch {
  const fields: Record<string, unknown> = typeof value === 'object' && value !== null ? { ...value } : {};
  const text = (name: string): string => (typeof fields[name] === 'string' ? fields[name] : '');
  return {
    choice: SEARCH_PROVIDERS.find((id) => id === fields['provider']) ?? 'off',
    hasKey: text('apiKey') !== '',
    url: text('url'),
    model: text('model'),
  };
}

export const webSearch = new WebSearchSettings();
