/** Operating a server: what is watched, and when it is wrong. */
export { alarmsOf, alarmStates, firing, isFiring, type Alarm } from "./alarms.ts";
