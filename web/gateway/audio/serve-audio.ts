import { portLink } from '#shared/link/link.ts';
import { serveCalls } from '#shared/link/port-calls.ts';
import { audioPort } from '#shared/ports/audio-port.ts';

/** Runs in a dedicated worker that a page starts for the gateway's worker: converts audio for calls over the port in its first message. */
export function serveAudio(scope: DedicatedWorkerGlobalScope): void {
  scope.addEventListener(
    'message',
    ({ ports: [port] }) => {
      if (!port) return;
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
    },
    { once: true },
  );
}
