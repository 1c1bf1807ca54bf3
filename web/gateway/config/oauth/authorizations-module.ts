import { defineModule } from '../../system/modules.ts';
import type { AuthorizationsDeps } from './authorizations.ts';

/** Pending authorizations by OAuth. */
export const authorizationsModule = defineModule<AuthorizationsDeps>()({
  name: 'authorizations',
  needs: ['bridge', 'clock', 'fault'],
  load: async (needs) => new (await import('./authorizations.ts')).Authorizations(needs),
  stop: (authorizations) => authorizations.stop(),
});
