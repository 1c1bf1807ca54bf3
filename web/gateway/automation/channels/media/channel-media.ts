import { fromBase64, toBase64 } from '#shared/base64.ts';
import { speechPort } from '#shared/ports/speech-port.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { ProviderKind } from '#shared/rpc/record-schemas.ts';
import type { DocumentReader } from '../../../documents/document-reader.ts';
import type { Bridge } from '../../../ports/bridge-interface.ts';
import { guessUsage } from '../../../providers/estimate-usage.ts';
import type { Providers } from '../../../providers/providers.ts';
import { canRelay } from '../../../providers/relaying-provider.ts';
import { canTranscribe } from '../../../providers/transcribing-provider.ts';
import type { Vault } from '../../../storage/vault-interface.ts';

/** Hosted models for speech recognition, the preferred first. */
const HOSTED_MODELS: readonly [ProviderKind, string][] = [
  ['groq', 'whisper-large-v3-turbo'],
  ['openai', 'gpt-4o-mini-transcribe'],
  ['mistral', 'voxtral-mini-latest'],
];
/** Maximum size of a transcript's response. */
const MAX_RESPONSE_BYTES = 1024 * 1024;
/** Longer replies are not spoken: nobody listens that long, and synthesis takes as long as the reply. */
export const MAX_SPOKEN_CHARS = 1_500;

/** A file of a message, as the platform sends it. */
export interface MediaFile {
  name: string;
  mimeType: string;
  bytes: Uint8Array<ArrayBuffer>;
}

/** Why a recording or file cannot be used. The message is a clause for people, such as "no model can transcribe it". */
export class MediaError extends Error {
  override name = 'MediaError';
}

export interface ChannelMediaDeps {
  providers: Pick<Providers, 'findKind' | 'findTranscriber' | 'addCost'>;
  documents: DocumentReader;
  bridge: Bridge;
  usage: Pick<Vault['usage'], 'add'>;
  clock: Clock;
}

/** Speech and documents of messages on channels. */
export class ChannelMedia {
  readonly documents: DocumentReader;
  readonly #deps: ChannelMediaDeps;

  constructor(deps: ChannelMediaDeps) {
    this.documents = deps.documents;
    this.#deps = deps;
  }

  /**
   * The text of a recording: by a model in this browser if one is downloaded, else by a hosted provider. Throws `MediaError` if there is
   * none, and `ProviderError`.
   */
  async transcribe({ name, mimeType, bytes }: MediaFile, principal: string, signal: AbortSignal): Promise<string> {
    const { providers } = this.#deps;
    const local = await providers.findTranscriber(signal);
    if (local && canTranscribe(local.provider)) {
      const { text } = await local.provider.transcribe(local.model, { audio: toBase64(bytes), translate: false }, signal);
      return this.#record(local.provider.id, local.key, text, principal);
    }
    for (const [kind, model] of HOSTED_MODELS) {
      const provider = providers.findKind([kind]);
      if (!provider || !canRelay(provider)) continue;
      const form = new FormData();
      form.append('file', new Blob([bytes], { type: mimeType }), name);
      form.append('model', model);
      const { chunks } = await provider.relay('/audio/transcriptions', form, signal);
      const text = parseTranscript(await readText(chunks));
      if (text === undefined) throw new MediaError(`${provider.name} sent no transcript`);
      return this.#record(provider.id, `${provider.id}/${model}`, text, principal);
    }
    throw new MediaError(
      'no model for speech is set up. In Perch, add OpenAI, Groq or Mistral in Models, or download a Whisper model into the browser',
    );
  }

  /** Whether replies can be spoken. */
  get canSpeak(): boolean {
    return this.#deps.bridge.provides(speechPort);
  }

  /** A text as speech in MP3. */
  async speak(text: string, signal: AbortSignal): Promise<MediaFile> {
    const { audio } = await this.#deps.bridge.call(speechPort, 'speech.speak', { text }, { signal });
    return { name: 'reply.mp3', mimeType: 'audio/mpeg', bytes: fromBase64(audio) };
  }

  async #record(provider: string, model: string, text: string, principal: string): Promise<string> {
    const { providers, usage, clock } = this.#deps;
    const cost = await providers.addCost(model, guessUsage(0, text.length));
    usage.add({ ...{ id: crypto.randomUUID(), at: clock.now(), provider, model, principal }, usage: cost, sessionKey: null });
    return text.trim();
  }
}

async function readText(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.byteLength;
    if (size > MAX_RESPONSE_BYTES) throw new MediaError('the transcript is too long');
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function parseTranscript(response: string): string | undefined {
  try {
    const { text }: { text?: unknown } = { ...(JSON.parse(response) as object) };
    return typeof text === 'string' ? text : undefined;
  } catch {
    return undefined;
  }
}
