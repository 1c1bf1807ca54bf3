import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Voice } from '#shared/rpc/methods/tts.ts';
import type { Keeper } from '../../processes/keep.ts';
import { runKept } from '../../processes/kept-program.ts';
import { mp3Of } from './mp3.ts';
import type { Utterance } from './neural.ts';

const SPEAK_MS = 60_000;
const MAX_OUTPUT = 256 * 1024 * 1024;
const MAX_COMPLAINT = 1000;

/** A speech engine of the system, which may not be installed. */
export interface SystemEngine {
  /** Name such as `espeak-ng`. */
  name: string;
  voices(signal: AbortSignal): Promise<Voice[]>;
  /**
   * Returns a WAV file, spoken by the voice with this id, or one for the language of another voice. Rate and pitch depend on the program.
   */
  speak(utterance: Utterance, signal: AbortSignal): Promise<{ wav: Buffer; voice: string }>;
}

/** Engines of a platform in order of preference. */
export function systemEngines(keeper: Pick<Keeper, 'keep'>, platform: NodeJS.Platform = process.platform): SystemEngine[] {
  const run = runnerOf(keeper);
  if (platform === 'darwin') return [say(run)];
  if (platform === 'win32') return [sapi(run)];
  return [espeak('espeak-ng', run), espeak('espeak', run)];
}

/** Speaks with the first available engine. Returns MP3; undefined if there is no engine. */
export async function speakBySystem(
  engines: readonly SystemEngine[],
  utterance: Utterance,
  signal: AbortSignal,
): Promise<{ mp3: Buffer; voice: string } | undefined> {
  const spoken = await speakWav(engines, utterance, signal);
  return spoken && { mp3: await mp3Of(spoken.wav, signal), voice: spoken.voice };
}

/** Like `speakBySystem`, but returns the engine's WAV file. */
export async function speakWav(
  engines: readonly SystemEngine[],
  utterance: Utterance,
  signal: AbortSignal,
): Promise<{ wav: Buffer; voice: string } | undefined> {
  for (const engine of engines) {
    try {
      const { wav, voice } = await engine.speak(utterance, signal);
      return { wav, voice: `system:${engine.name}:${voice}` };
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }
  return undefined;
}

export async function systemVoices(engines: readonly SystemEngine[], signal: AbortSignal): Promise<Voice[]> {
  for (const engine of engines) {
    try {
      // eSpeak has several voices per language and picks the first one.
      const byId = new Map((await engine.voices(signal)).toReversed().map((voice) => [voice.id, voice]));
      return [...byId.values()].toReversed().map((voice) => ({ ...voice, id: `system:${engine.name}:${voice.id}` }));
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }
  return [];
}

const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT';

/** Runs a program with the text to speak on standard input. */
type Run = (program: string, args: readonly string[], input: string, signal: AbortSignal) => Promise<Buffer>;

const runnerOf =
  (keeper: Pick<Keeper, 'keep'>): Run =>
  async (program, args, input, signal) => {
    const { stdout, stderr, code } = await runKept([program, ...args], { keeper, maxBuffer: MAX_OUTPUT, signal, timeout: SPEAK_MS, input });
    if (code !== 0) throw new Error(`${program} failed (${code ?? 'killed by a signal'}): ${stderr.toString().slice(0, MAX_COMPLAINT)}`);
    return stdout;
  };

const percentOf = (rate: string): number => Number.parseInt(rate, 10);
const hertzOf = (pitch: string): number => Number.parseInt(pitch, 10);
/** Returns the engine's own id of a voice; undefined for other engines' voices. */
const ownId = (engine: string, voice: string): string | undefined =>
  voice.startsWith(`system:${engine}:`) ? voice.slice(`system:${engine}:`.length) : undefined;
const languageOf = (voice: string): string => voice.split('-', 2).join('-');
const within = (value: number, least: number, most: number): number => Math.max(least, Math.min(most, Math.round(value)));

/** eSpeak's defaults are 175 words per minute and a pitch of 50 out of 99; one hertz is about half a unit of pitch. */
function espeak(program: string, run: Run): SystemEngine {
  const list = async (signal: AbortSignal): Promise<Voice[]> => {
    const lines = (await run(program, ['--voices'], '', signal)).toString().split('\n').slice(1);
    return lines.flatMap((line) => {
      const [, , language, sex, name] = /^\s*(\d+)\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)/.exec(line) ?? [];
      if (language === undefined || name === undefined) return [];
      const gender = sex?.endsWith('F') ? 'Female' : sex?.endsWith('M') ? 'Male' : 'Neutral';
      return [{ id: language, name: name.replaceAll('_', ' '), language, gender }];
    });
  };
  return {
    name: program,
    voices: list,
    async speak({ text, voice, rate, pitch }, signal) {
      const own = ownId(program, voice);
      const known = new Set((await list(signal)).map(({ language }) => language.toLowerCase()));
      const wanted = languageOf(voice).toLowerCase();
      const [short = 'en'] = wanted.split('-');
      const chosen = own ?? [wanted, short].find((each) => known.has(each)) ?? 'en';
      const args = ['--stdout', '--stdin', '-v', chosen, '-s', String(within(175 * (1 + percentOf(rate) / 100), 80, 450))];
      const wav = await run(program, [...args, '-p', String(within(50 + hertzOf(pitch) / 2, 0, 99))], text, signal);
      return { wav, voice: chosen };
    },
  };
}

/** Runs `work` with a temporary folder, which is then deleted. */
async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'perch-speech-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** macOS. Does not support pitch. */
function say(run: Run): SystemEngine {
  const voices = async (signal: AbortSignal): Promise<Voice[]> => {
    const lines = (await run('say', ['-v', '?'], '', signal)).toString().split('\n');
    return lines.flatMap((line) => {
      const [, name, language] = /^(.+?)\s+([a-z]{2,3}_[A-Z0-9]+)\s+#/.exec(line) ?? [];
      return name === undefined || language === undefined
        ? []
        : [{ id: name, name, language: language.replace('_', '-'), gender: 'Neutral' }];
    });
  };
  return {
    name: 'say',
    voices,
    speak: ({ text, voice, rate }, signal) =>
      inFolder(async (folder) => {
        const language = languageOf(voice);
        const own = ownId('say', voice);
        const chosen = (await voices(signal)).find((each) => (own === undefined ? each.language === language : each.id === own));
        const file = join(folder, 'speech.wav');
        const args = ['-o', file, '--data-format=LEI16@22050', '-r', String(within(175 * (1 + percentOf(rate) / 100), 80, 450))];
        await run('say', [...args, ...(chosen ? ['-v', chosen.id] : []), '-f', '-'], text, signal);
        return { wav: await readFile(file), voice: chosen?.id ?? 'default' };
      }),
  };
}

/** Windows. Rates range from −10 to 10; does not support pitch. */
const sapi = (run: Run): SystemEngine => ({
  name: 'sapi',
  async voices(signal) {
    const script =
      'Add-Type -AssemblyName System.Speech; (New-Object System.Speech.Synthesis.SpeechSynthesizer).GetInstalledVoices() | % { $i = $_.VoiceInfo; "$($i.Name)|$($i.Culture)|$($i.Gender)" }';
    const lines = (await run('powershell.exe', ['-NoProfile', '-NonInteractive', '-Command', script], '', signal))
      .toString()
      .split(/\r?\n/);
    return lines.flatMap((line) => {
      const [name, language, gender] = line.split('|');
      return name && language && gender ? [{ id: name, name, language, gender }] : [];
    });
  },
  speak: ({ text, voice, rate }, signal) =>
    inFolder(async (folder) => {
      const file = join(folder, 'speech.wav');
      // Text and file name are passed on standard input, so that they are never interpreted as a script.
      const script =
        'Add-Type -AssemblyName System.Speech; [Console]::InputEncoding = [Text.Encoding]::UTF8; $in = [Console]::In.ReadToEnd() | ConvertFrom-Json; $s = New-Object System.Speech.Synthesis.SpeechSynthesizer; $s.Rate = $in.rate; try { if ($in.voice) { $s.SelectVoice($in.voice) } else { $s.SelectVoiceByHints("NotSet", "NotSet", 0, $in.language) } } catch {}; $s.SetOutputToWaveFile($in.file); $s.Speak($in.text); $s.Dispose(); $s.Voice.Name';
      const input = JSON.stringify({
        text,
        file,
        voice: ownId('sapi', voice) ?? null,
        language: languageOf(voice),
        rate: within(percentOf(rate) / 10, -10, 10),
      });
      const name = (await run('powershell.exe', ['-NoProfile', '-NonInteractive', '-Command', script], input, signal)).toString().trim();
      return { wav: await readFile(file), voice: name || 'default' };
    }),
});
