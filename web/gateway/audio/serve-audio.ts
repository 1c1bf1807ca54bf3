import { portLink } from '#shared/link/link.ts';
import { serveCalls } from '#shared/link/port-calls.ts';
import { audioPort } from '#shared/ports/audio-port.ts';

/** Converts audio in a page's dedicated worker, for calls over `port`. */
export function serveAudio(port: MessagePort): void {
  serveCalls<typeof audioPort.calls, typeof audioPort.events>(
    portLink<string>(port),
    audioPort.calls,
    {
      'audio.convert': async ({ audio, format }, signal) => ({
        audio: await (await import('./convert-audio.ts')).convertAudio(audio, format, signal),
      }),
    },
    { fault: (error) => console.error('[perch audio]', error) },
  );
}
