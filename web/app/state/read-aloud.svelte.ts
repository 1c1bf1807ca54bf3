import { fromBase64 } from '#shared/base64.ts';
import { type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '../connection/gateway-connection.svelte.ts';
import { m } from '../i18n/messages.ts';
import { loadBrowserVoices, voice } from './voice.svelte.ts';

/** Reads one text at a time aloud, with the browser's voices, or with the gateway's if it has none. */
class ReadAloud {
  /** Name of the text being read aloud; null if none. */
  activeName = $state<string | null>(null);
  /** Problem of the last text, with its name. */
  problem = $state.raw<{ name: string; problem: Problem } | null>(null);
  #abort = new AbortController();

  /** Starts reading a Markdown text and stops any other; stops it if it is being read. */
  toggle(name: string, markdown: string): void {
    const wasActive = this.activeName === name;
    this.stop();
    if (!wasActive) void this.#speak(name, markdown);
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
      const { toSpeechPieces } = await import('../speech/speech-text.ts');
      signal.throwIfAborted();
      const pieces = toSpeechPieces(markdown);
      if (pieces.length === 0) {
        this.problem = { name, problem: { message: m.reply_nothing_to_read(), code: null } };
        return;
      }
      const voices = await loadBrowserVoices();
      signal.throwIfAborted();
      if (voices.length > 0) await speakInBrowser(pieces, voices, signal);
      else await speakByGateway(pieces, signal);
    } catch (error) {
      const link = { label: m.reply_voice_settings(), href: '/settings#voice' };
      if (!signal.aborted) this.problem = { name, problem: { link, ...toProblem(error, m.reply_doing_read_aloud()) } };
    } finally {
      if (!signal.aborted) this.activeName = null;
    }
  }
}

async function speakInBrowser(pieces: readonly string[], voices: readonly SpeechSynthesisVoice[], signal: AbortSignal): Promise<void> {
  const selected = voices.find(({ voiceURI }) => voiceURI === voice.voice);
  const cancel = (): void => speechSynthesis.cancel();
  signal.addEventListener('abort', cancel);
  // Speech would continue after the page is closed.
  addEventListener('pagehide', cancel, { signal });
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
    signal.removeEventListener('abort', cancel);
  }
}

/** Fetches each piece while the previous one is played. */
async function speakByGateway(pieces: readonly string[], signal: AbortSignal): Promise<void> {
  const fetchPiece = (index: number): Promise<Blob> | undefined => {
    const text = pieces[index];
    if (text === undefined) return undefined;
    const blob = gateway
      .call('tts.speak', { text, ...voice.gatewayOptions })
      .then(({ audio, mimeType }) => new Blob([fromBase64(audio)], { type: mimeType }));
    blob.catch(() => {});
    return blob;
  };
  let next = fetchPiece(0);
  for (let index = 1; next; index++) {
    const blob = await next;
    signal.throwIfAborted();
    next = fetchPiece(index);
    await playAudio(blob, signal);
  }
}

async function playAudio(blob: Blob, signal: AbortSignal): Promise<void> {
  const url = URL.createObjectURL(blob);
  const audio = new Audio(url);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const stop = (): void => {
    audio.pause();
    resolve();
  };
  audio.onended = () => resolve();
  audio.onerror = () => reject(new Error(m.reply_voice_unplayable()));
  signal.addEventListener('abort', stop);
  try {
    await audio.play();
    await promise;
  } finally {
    signal.removeEventListener('abort', stop);
    URL.revokeObjectURL(url);
  }
}

export const readAloud = new ReadAloud();
