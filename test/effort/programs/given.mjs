/** What every agent of this comparison is given: its servers, its task, and the two decisions of its user. */

export const servers = JSON.parse(process.env.SERVERS);
export const task = process.env.TASK;
export const modelUrl = process.env.MODEL_URL;

/** The user allows everything but saving. */
export const isAllowed = (tool) => tool !== 'save';

/** What the user types into every form. */
export const typed = { name: 'Ada' };
