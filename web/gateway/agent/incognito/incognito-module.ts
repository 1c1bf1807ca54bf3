import { createNotLoadedError } from '#shared/async/lazy.ts';
import { defineModule } from '../../system/modules.ts';
import type { IncognitoServiceDeps } from './incognito-service.ts';

/** Answers incognito chats. */
export const incognitoModule = defineModule<IncognitoServiceDeps>()({
  name: 'incognito',
  needs: ['vault', 'clock', 'models', 'timeZone', 'main', 'silenceMs', 'fault'],
  async load(needs) {
    const { IncognitoService } = await import('./incognito-service.ts').catch((cause: unknown) =>
      Promise.reject(createNotLoadedError(cause)),
    );
    return new IncognitoService(needs);
  },
  drain: (incognito, ms) => incognito.drain(ms),
});
