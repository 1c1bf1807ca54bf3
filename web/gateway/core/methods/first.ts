import { firstContracts } from '#shared/rpc/methods/first.ts';
import type { Handlers, Methods } from '../dispatch.ts';
import { agentMethods } from './agents.ts';
import { approvalMethods } from './approvals.ts';
import { chatMethods } from './chat.ts';
import { modelListMethods } from './model-list.ts';
import { sessionListMethods } from './session-list.ts';
import { syncMethods } from './sync.ts';

type Deps<Make extends (deps: never) => unknown> = Parameters<Make>[0];

/** Dependencies of these methods. */
export type FirstDeps = Pick<Handlers<typeof firstContracts>, 'health'> &
  Deps<typeof agentMethods> &
  Deps<typeof approvalMethods> &
  Deps<typeof chatMethods> &
  Deps<typeof modelListMethods> &
  Deps<typeof sessionListMethods> &
  Deps<typeof syncMethods>;

/** Methods that the gateway has from startup. */
export const firstMethods = (deps: FirstDeps): Methods => ({
  contracts: firstContracts,
  handlers: {
    health: deps.health,
    ...agentMethods(deps),
    ...approvalMethods(deps),
    ...chatMethods(deps),
    ...modelListMethods(deps),
    ...sessionListMethods(deps),
    ...syncMethods(deps),
  } satisfies Handlers<typeof firstContracts>,
});
