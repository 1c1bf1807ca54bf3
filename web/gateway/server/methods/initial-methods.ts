import { initialContracts } from '#shared/rpc/methods/initial-contracts.ts';
import type { Handlers, Methods } from '../dispatch.ts';
import { agentMethods } from './agent-methods.ts';
import { approvalMethods } from './approval-methods.ts';
import { chatMethods } from './chat-methods.ts';
import { modelListMethods } from './model-list-methods.ts';
import { sessionListMethods } from './session-list-methods.ts';
import { syncMethods } from './sync-methods.ts';

type Deps<Make extends (deps: never) => unknown> = Parameters<Make>[0];

/** Dependencies of these methods. */
export type InitialMethodsDeps = Pick<Handlers<typeof initialContracts>, 'health'> &
  Deps<typeof agentMethods> &
  Deps<typeof approvalMethods> &
  Deps<typeof chatMethods> &
  Deps<typeof modelListMethods> &
  Deps<typeof sessionListMethods> &
  Deps<typeof syncMethods>;

/** Methods that the gateway has from startup. */
export const createInitialMethods = (deps: InitialMethodsDeps): Methods => ({
  contracts: initialContracts,
  handlers: {
    health: deps.health,
    ...agentMethods(deps),
    ...approvalMethods(deps),
    ...chatMethods(deps),
    ...modelListMethods(deps),
    ...sessionListMethods(deps),
    ...syncMethods(deps),
  } satisfies Handlers<typeof initialContracts>,
});
