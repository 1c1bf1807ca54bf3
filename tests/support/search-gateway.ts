import type { Clock } from '../../shared/async/clock.ts';
import type { FakeBridge } from './fake-bridge.ts';
import { SEARCH_KEY, type startSearchServer } from './search-server.ts';
import { createScriptedModel, createTestGateway, type ModelScript } from './test-gateway.ts';

export type SearchServer = Awaited<ReturnType<typeof startSearchServer>>;

/** A gateway whose searches go to the local server. */
export async function createSearchGateway(
  server: SearchServer,
  webSearch: object | null,
  options: { model?: ModelScript; clock?: Clock; bridge?: FakeBridge } = {},
) {
  const model = createScriptedModel(options.model ?? (() => ['done']));
  const gw = await createTestGateway({
    ...(options.clock ? { clock: options.clock } : {}),
    ...(options.bridge ? { bridge: options.bridge } : {}),
    fetch: (url, init) => {
      const body = init.bytes ?? init.body;
      return url.startsWith(server.url)
        ? fetch(url, {
            method: init.method ?? 'GET',
            headers: init.headers ?? {},
            signal: init.signal,
            redirect: 'manual',
            body: body ?? null,
          })
        : model.fetch(url, init);
    },
  });
  const { client } = await gw.client();
  await client.call('config.patch', {
    patch: {
      providers: {
        openai: { kind: 'openai', baseUrl: server.url, apiKey: SEARCH_KEY },
        claude: { kind: 'anthropic', baseUrl: server.url, apiKey: SEARCH_KEY },
        gemini: { kind: 'google', baseUrl: server.url, apiKey: SEARCH_KEY },
      },
      tools: { webSearch },
    },
  });
  return { gw, client, model };
}
