import type { ProviderKind, Usage } from '#shared/rpc/record-schemas.ts';
import type { SearchResult } from '#shared/rpc/methods/web-contracts.ts';
import { z } from '#shared/rpc/zod.ts';
import { ProviderError } from '../../providers/provider.ts';
import { type FoundPages, parseFound, type SearchRequest, type SearchService } from './search-service.ts';

/** Maximum length of the model's answer. */
const MAX_TOKENS = 4096;

const FRESHNESS_TEXT = { day: 'the last day', week: 'the last week', month: 'the last month', year: 'the last year' } as const;

/** Instruction for a model that searches. The query is data. */
function toPrompt({ query, limit, freshness, site }: SearchRequest): string {
  return [
    'Search the web once for the query below and list what the pages found say about it.',
    `Write at most ${limit} short paragraphs, each about one page, and cite the page in it. Add nothing that no page says.`,
    ...(freshness ? [`Use only pages of ${FRESHNESS_TEXT[freshness]}.`] : []),
    ...(site === undefined ? [] : [`Use only pages of ${site}.`]),
    `Query: ${JSON.stringify(query)}`,
  ].join('\n');
}

const createUsage = (inputTokens = 0, outputTokens = 0): Usage => ({ inputTokens, outputTokens, totalTokens: inputTokens + outputTokens });

const count = z.number().nonnegative().nullish().catch(null);

/** Pages in the order of their first mention, each with what is said about it. */
class PageList {
  readonly #pages = new Map<string, { title: string; published?: string; snippets: string[] }>();

  add(url: string | null | undefined, { title, snippet, published }: Partial<Omit<SearchResult, 'url'>>): void {
    if (!url) return;
    const page = this.#pages.get(url) ?? { title: '', snippets: [] };
    this.#pages.set(url, page);
    if (page.title === '' && title) page.title = title;
    if (published) page.published ??= published;
    if (snippet && !page.snippets.includes(snippet)) page.snippets.push(snippet);
  }

  get results(): Partial<SearchResult>[] {
    return [...this.#pages].map(([url, { snippets, ...page }]) => ({ ...page, url, snippet: snippets.join(' … ') }));
  }
}

const openAiAnnotation = z.object({
  type: z.string(),
  url: z.string().optional(),
  title: z.string().nullish(),
  start_index: z.number().int().nonnegative().optional(),
});
const openAiResponse = z.object({
  status: z.string().nullish(),
  error: z.object({ message: z.string() }).nullish().catch(null),
  output: z.array(
    z.looseObject({
      type: z.string(),
      action: z
        .looseObject({ sources: z.array(z.looseObject({ url: z.string() })).nullish() })
        .nullish()
        .catch(null),
      content: z
        .array(
          z.looseObject({
            text: z.string().optional(),
            annotations: z.array(openAiAnnotation).nullish().catch(null),
          }),
        )
        .nullish()
        .catch(null),
    }),
  ),
  usage: z.object({ input_tokens: count, output_tokens: count }).nullish().catch(null),
});

/** https://platform.openai.com/docs/guides/tools-web-search */
async function searchOpenAi(model: string, request: SearchRequest, send: SendJson, name: string): Promise<FoundPages> {
  const answer = parseFound(
    openAiResponse,
    await send('/responses', {
      ...{ model, input: toPrompt(request), store: false, tool_choice: 'required', max_output_tokens: MAX_TOKENS },
      tools: [{ type: 'web_search', ...(request.site === undefined ? {} : { filters: { allowed_domains: [request.site] } }) }],
      include: ['web_search_call.action.sources'],
    }),
    name,
  );
  if (answer.status === 'failed') throw new ProviderError(`${name} could not search: ${answer.error?.message ?? 'no reason given'}`);
  const pages = new PageList();
  for (const { text = '', annotations } of answer.output.flatMap(({ content }) => content ?? []))
    for (const { type, url, title, start_index: start = 0 } of annotations ?? [])
      if (type === 'url_citation') pages.add(url, { title: title ?? '', snippet: getParagraph(text, start) });
  for (const { url } of answer.output.flatMap(({ action }) => action?.sources ?? [])) pages.add(url, {});
  return { results: pages.results, usage: createUsage(answer.usage?.input_tokens ?? 0, answer.usage?.output_tokens ?? 0) };
}

/** The line of a text around a position, without the links that cite. */
function getParagraph(text: string, position: number): string {
  const start = text.lastIndexOf('\n', position) + 1;
  const end = text.indexOf('\n', position);
  return text
    .slice(start, end < 0 ? undefined : end)
    .replaceAll(/\(?\[[^\]]{0,300}\]\([^)]{0,2000}\)\)?/g, '')
    .replace(/^[\s*\-–•#]+/, '')
    .trim();
}

const anthropicResponse = z.object({
  content: z.array(
    z.looseObject({
      type: z.string(),
      text: z.string().optional(),
      citations: z
        .array(z.looseObject({ url: z.string().nullish(), title: z.string().nullish(), cited_text: z.string().nullish() }))
        .nullish()
        .catch(null),
      /** Found pages, or an error. */
      content: z.unknown().optional(),
    }),
  ),
  usage: z.object({ input_tokens: count, output_tokens: count }).nullish().catch(null),
});
const anthropicPage = z.looseObject({ url: z.string(), title: z.string().nullish(), page_age: z.string().nullish() });
const anthropicError = z.looseObject({ type: z.literal('web_search_tool_result_error'), error_code: z.string() });

/** https://docs.claude.com/en/docs/agents-and-tools/tool-use/web-search-tool */
async function searchAnthropic(model: string, request: SearchRequest, send: SendJson, name: string): Promise<FoundPages> {
  const answer = parseFound(
    anthropicResponse,
    await send('/messages', {
      ...{ model, max_tokens: MAX_TOKENS, messages: [{ role: 'user', content: toPrompt(request) }] },
      tools: [
        {
          ...{ type: 'web_search_20250305', name: 'web_search', max_uses: 1 },
          ...(request.site === undefined ? {} : { allowed_domains: [request.site] }),
        },
      ],
    }),
    name,
  );
  const cited = new PageList();
  const found = new PageList();
  for (const { type, citations, content } of answer.content) {
    for (const { url, title, cited_text: snippet } of citations ?? []) cited.add(url, { title: title ?? '', snippet: snippet ?? '' });
    if (type !== 'web_search_tool_result') continue;
    const error = anthropicError.safeParse(content);
    if (error.success) throw createAnthropicError(name, error.data.error_code);
    for (const page of z.array(anthropicPage).catch([]).parse(content))
      found.add(page.url, { title: page.title ?? '', ...(page.page_age ? { published: page.page_age } : {}) });
  }
  // Cited pages first: only these have text that can be read.
  for (const { url, ...page } of found.results) cited.add(url, page);
  return { results: cited.results, usage: createUsage(answer.usage?.input_tokens ?? 0, answer.usage?.output_tokens ?? 0) };
}

const createAnthropicError = (name: string, code: string): ProviderError =>
  code === 'too_many_requests'
    ? new ProviderError(`${name} is limiting searches`, { status: 429, retryable: true })
    : new ProviderError(`${name} could not search: ${code}`, { retryable: code === 'unavailable' });

const googleResponse = z.object({
  candidates: z
    .array(
      z.looseObject({
        groundingMetadata: z
          .object({
            groundingChunks: z
              .array(z.object({ web: z.object({ uri: z.string(), title: z.string().nullish() }).nullish().catch(null) }))
              .nullish()
              .catch(null),
            groundingSupports: z
              .array(
                z.object({
                  segment: z.object({ text: z.string().nullish() }).nullish(),
                  groundingChunkIndices: z.array(z.number()).nullish(),
                }),
              )
              .nullish()
              .catch(null),
          })
          .nullish()
          .catch(null),
      }),
    )
    .nullish(),
  usageMetadata: z.object({ promptTokenCount: count, candidatesTokenCount: count }).nullish().catch(null),
});

/** https://ai.google.dev/gemini-api/docs/google-search */
async function searchGoogle(model: string, request: SearchRequest, send: SendJson, name: string): Promise<FoundPages> {
  const answer = parseFound(
    googleResponse,
    await send(`/models/${encodeURIComponent(model)}:generateContent`, {
      contents: [{ role: 'user', parts: [{ text: toPrompt(request) }] }],
      tools: [{ google_search: {} }],
      generationConfig: { maxOutputTokens: MAX_TOKENS },
    }),
    name,
  );
  const pages = new PageList();
  for (const { groundingMetadata: grounding } of answer.candidates ?? []) {
    const chunks = grounding?.groundingChunks ?? [];
    for (const { segment, groundingChunkIndices: indices } of grounding?.groundingSupports ?? [])
      for (const index of indices ?? []) {
        const web = chunks[index]?.web;
        pages.add(web?.uri, { title: web?.title ?? '', snippet: segment?.text ?? '' });
      }
    for (const { web } of chunks) pages.add(web?.uri, { title: web?.title ?? '' });
  }
  return {
    results: pages.results,
    usage: createUsage(answer.usageMetadata?.promptTokenCount ?? 0, answer.usageMetadata?.candidatesTokenCount ?? 0),
  };
}

type SendJson = (path: string, body: object) => Promise<unknown>;
type ModelSearch = (model: string, request: SearchRequest, send: SendJson, name: string) => Promise<FoundPages>;

interface Dialect {
  search: ModelSearch;
  headers(apiKey: string | undefined): Record<string, string>;
}

const OPENAI: Dialect = {
  search: searchOpenAi,
  headers: (apiKey): Record<string, string> => (apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
};
const DIALECTS: Partial<Record<ProviderKind, Dialect>> = {
  openai: OPENAI,
  'openai-compatible': OPENAI,
  xai: OPENAI,
  anthropic: {
    search: searchAnthropic,
    headers: (apiKey) => ({ 'anthropic-version': '2023-06-01', ...(apiKey === undefined ? {} : { 'x-api-key': apiKey }) }),
  },
  google: { search: searchGoogle, headers: (apiKey): Record<string, string> => (apiKey === undefined ? {} : { 'x-goog-api-key': apiKey }) },
};

/** The search of a provider, by one of its models; undefined if providers of this kind have none. */
export function createModelSearch(kind: ProviderKind, name: string, model: string): SearchService | undefined {
  const dialect = DIALECTS[kind];
  return (
    dialect && {
      name,
      needsKey: kind !== 'openai-compatible',
      headers: dialect.headers,
      search: (request, http, watchdog) =>
        dialect.search(model, request, (path, body) => http.json(http.baseUrl + path, watchdog, body), http.name),
    }
  );
}
