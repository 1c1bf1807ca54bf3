import { type ProviderKindEntry, type ProviderKind, providerKind } from '#shared/rpc/record-schemas.ts';

const createEntry = (name: string, baseUrl: string | null, docsUrl: string | null, needsKey = true): Omit<ProviderKindEntry, 'id'> => ({
  name,
  baseUrl,
  needsKey,
  docsUrl,
});

const KINDS: Readonly<Record<ProviderKind, Omit<ProviderKindEntry, 'id'>>> = {
  'openai-compatible': createEntry('Any OpenAI-compatible server', null, null, false),
  openai: createEntry('OpenAI', 'https://api.openai.com/v1', 'https://platform.openai.com/api-keys'),
  anthropic: createEntry('Anthropic', 'https://api.anthropic.com/v1', 'https://platform.claude.com/settings/keys'),
  google: createEntry('Google Gemini', 'https://generativelanguage.googleapis.com/v1beta', 'https://aistudio.google.com/apikey'),
  openrouter: createEntry('OpenRouter', 'https://openrouter.ai/api/v1', 'https://openrouter.ai/settings/keys'),
  mistral: createEntry('Mistral', 'https://api.mistral.ai/v1', 'https://console.mistral.ai/api-keys'),
  groq: createEntry('Groq', 'https://api.groq.com/openai/v1', 'https://console.groq.com/keys'),
  deepseek: createEntry('DeepSeek', 'https://api.deepseek.com/v1', 'https://platform.deepseek.com/api_keys'),
  xai: createEntry('xAI', 'https://api.x.ai/v1', 'https://console.x.ai'),
  ollama: createEntry('Ollama', 'http://127.0.0.1:11434/v1', 'https://docs.ollama.com', false),
  lmstudio: createEntry('LM Studio', 'http://127.0.0.1:1234/v1', 'https://lmstudio.ai/docs', false),
};

/** All kinds, as `models.catalog` lists them. */
export const listProviderKinds = (): ProviderKindEntry[] => providerKind.options.map((id) => ({ id, ...KINDS[id] }));

export const getProviderKind = (id: ProviderKind): Omit<ProviderKindEntry, 'id'> => KINDS[id];

/** Kinds whose models run locally and are free. */
export const isLocalKind = (kind: ProviderKind): boolean => kind === 'ollama' || kind === 'lmstudio';

/** Vendor of the models at a URL: OpenAI's server is recognized even if it is configured as `openai-compatible`. */
export function detectVendor(kind: ProviderKind, baseUrl: string): ProviderKind {
  if (kind !== 'openai-compatible') return kind;
  const origin = URL.parse(baseUrl)?.origin;
  return (
    listProviderKinds().find((kindInfo) => kindInfo.needsKey && kindInfo.baseUrl !== null && new URL(kindInfo.baseUrl).origin === origin)
      ?.id ?? kind
  );
}

/** Base URL of a provider's configuration; undefined if neither it nor its kind has one. */
export function getBaseUrl(config: { kind?: ProviderKind | undefined; baseUrl?: string | undefined }): string | undefined {
  return config.baseUrl ?? getProviderKind(config.kind ?? 'openai-compatible').baseUrl ?? undefined;
}

/** Hosts on this machine or its network, by name or address. */
const PRIVATE_HOST =
  /^(?:[^.:]+|.+\.(?:localhost|local|lan|internal|home\.arpa)|(?:127|10|192\.168|169\.254|172\.(?:1[6-9]|2\d|3[01]))(?:\.\d+)+|\[(?:::1|f[cd].*|fe[89ab].*)\])$/;

/** Whether a server is on this machine or its network, such as `http://127.0.0.1:8080/v1`. */
export const isPrivateServer = (baseUrl: string): boolean => PRIVATE_HOST.test(URL.parse(baseUrl)?.hostname ?? '');
