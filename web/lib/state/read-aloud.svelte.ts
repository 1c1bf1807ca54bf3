import { fromBase64 } from '#shared/base64.ts';
import { type Problem, toProblem } from '#lib/problems.ts';
import { gateway } from '#lib/gateway/gateway-connection.svelte.ts';
import { m } from '#lib/i18n/chat-messages.ts';
import { loadBrowserVoices, voice } from './voice.svelte.ts';

/** Reads one text at a time aloud: with the browser's voices, or where it has none with the gateway's. */
class ReadAloud {
  /** Name of the text being read aloud; null if none. */
  activeName = $state<string | null>(null);
  /** Why something could not be read. */
  problem = $state.raw<{ of: string; what: Problem } | null>(null);
  #abort = new AbortController();

  /** Begins with a Markdown text, in the place of what is read; or ends it, where it is what is read. */
  toggle(name: string, markdown: string): void {
    const ends = this.activeName === name;
    this.stop();
    if (!ends) void this.#speak(name, markdown);
  }

  stop(): void {
    this.#abort.abort();
    this.activeName = null;
    this.problem = null;
  }

  async #speak(name: string, markdown: string): Promise<void> {
    const { signal } = (this.#abort = new AbortController());
    this.activeName = name;
    try {
      const { toSpeechPieces } = await import('#lib/speech/speech-text.ts');
      signal.throwIfAborted();
      const pieces = toSpeechPieces(markdown);
      if (pieces.length === 0) {
        this.problem = { of: name, what: { message: m.reply_nothing_to_read(), code: null } };
        return;
      }
      const voices = await loadBrowserVoices();
      signal.throwIfAborted();
      if (voices.length > 0) await speakInBrowser(pieces, voices, signal);
      else await speakByGateway(pieces, signal);
    } catch (error) {
      const link = { label: m.reply_voice_settings(), href: '/settings#voice' };
      if (!signal.aborted) this.problem = { of: name, what: { link, ...toProblem(error, m.reply_doing_read_aloud()) } };
    } finally {
      if (!signal.aborted) this.activeName = null;
    }
  }
}

async function speakInBrowser(pieces: readonly string[], voices: readonly SpeechSynthesisVoice[], signal: AbortSignal): Promise<void> {
  const selected = voices.find(({ voiceURI }) => voiceURI === voice.voice);
  const silence = (): void => speechSynthesis.cancel();
  signal.addEventListener('abort', silence);
  // Speech would continue after the page is closed.
  addEventListener('pagehide', silence, { signal });
  try {
    for (const piece of pieces) {
      signal.throwIfAborted();
      const utterance = new SpeechSynthesisUtterance(piece);
      utterance.rate = voice.rate;
      if (selected) {
        utterance.voice = selected;
        utterance.lang = selected.lang;
      }
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      utterance.onend = () => resolve();
      utterance.onerror = ({ error }) => reject(new Error(m.reply_voice_failed({ error })));
      speechSynthesis.speak(utterance);
      await promise;
    }
  } finally {
    signal.removeEventListener('abort', silence);
  }
}

/** Each piece is fetched while the one before is heard. */
async function speakByGateway(pieces: readonly string[], signal: AbortSignal): Promise<void> {
  const fetched = (index: number): Promise<Blob> | undefined => {
    const text = pieces[index];
    if (text === undefined) return undefined;
    const blob = gateway
      .call('tts.speak', { text, ...voice.gatewayOptions })
      .then(({ audio, mimeType }) => new Blob([fromBase64(audio)], { type: mimeType }));
    blob.catch(() => {});
    return blob;
  };
  let next = fetched(0);
  for (let index = 1; next; index++) {
    const blob = await next;
    signal.throwIfAborted();
    next = fetched(index);
    await playAudio(blob, signal);
  }
}

async function playAudio(blob: Blob, signal: AbortSignal): Promise<void> {
  const address = URL.createObjectURL(blob);
  const audio = new Audio(address);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const silence = (): void => {
    audio.pause();
    resolve();
  };
  audio.onended = () => resolve();
  audio.onerror = () => reject(new Error(m.reply_voice_unplayable()));
  signal.addEventListener('abort', silence);
  try {
    await audio.play();
    await promise;
  } finally {
    signal.removeEventListener('abort', silence);
    URL.revokeObjectURL(address);
  }
}

export const readAloud = new ReadAloud();
