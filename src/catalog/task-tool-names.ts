/** The names of the tools by which clients without tasks follow calls in the background. */

export const TASK_STATUS = 'task_status';
export const TASK_RESULT = 'task_result';
export const TASK_CANCEL = 'task_cancel';
export const TASK_LIST = 'task_list';

export const TASK_TOOL_NAMES: readonly string[] = [TASK_STATUS, TASK_RESULT, TASK_CANCEL, TASK_LIST];
