/** The agent that always exists. */
export const MAIN_AGENT_ID = 'main';
